/** The schemas of an API's reference, as HTML. A named schema is a link to its own section on the page. */
import { linesOf } from "../../domain/experience/creative/rendering/Escaping.ts"
import { inline, slugOf } from "./ReferenceText.ts"

/** The part of a JSON Schema that pages show. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly format?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Schema>
  readonly oneOf?: ReadonlyArray<Schema>
  readonly allOf?: ReadonlyArray<Schema>
  readonly items?: Schema
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: Schema | boolean
  readonly [limit: string]: unknown
}

export type Schemas = { readonly [name: string]: Schema }

/** Limits that are shown beside a type. Those of every whole number are not. */
const limits = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "default"]

/** Shows a schema: its type in a line, its fields below. */
export const schemaHtml = (schema: Schema): string => {
  const { description, properties, required = [], items } = schema
  const text = description === undefined ? "" : ` ${inline(description)}`
  const line = `<div><span class="type">${typeOf(schema)}</span>${text}</div>`
  const alternatives = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  const parts = alternatives
    .filter(hasFields)
    .map((each, index) => detailsOf(each.properties?.["status"]?.enum?.join(" ") ?? `Form ${index + 1}`, each))
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) =>
      `<dt><code>${linesOf(name)}</code>${required.includes(name) ? "" : ' <span class="type">optional</span>'}</dt><dd>${schemaHtml(field)}</dd>`
  )
  const list = fields.length > 0 ? `<dl>${fields.join("")}</dl>` : ""
  return line + parts.join("") + list + (items !== undefined && hasFields(items) ? detailsOf("Each", items) : "")
}

const detailsOf = (title: string, schema: Schema): string =>
  `<details><summary>${linesOf(title)}</summary>${schemaHtml(schema)}</details>`

const hasFields = ({ properties, anyOf, items }: Schema): boolean =>
  properties !== undefined || anyOf !== undefined || (items !== undefined && hasFields(items))

const typeOf = (schema: Schema): string => {
  const { $ref, type, format, enum: values, anyOf, oneOf, allOf, items } = schema
  if ($ref !== undefined) {
    const name = nameOf($ref)
    return `<a href="#${slugOf(name)}">${linesOf(name)}</a>`
  }
  if (values !== undefined) return values.map((value) => `<code>${linesOf(JSON.stringify(value))}</code>`).join(" or ")
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return alternatives.map(typeOf).join(" or ")
  if (allOf !== undefined && type === undefined) return allOf.map(typeOf).join(" and ")
  if (items !== undefined) return `list of ${typeOf(items)}`
  const known = [type ?? "any value"].flat().join(" or ")
  const bounds = limits.flatMap((name) => {
    const limit = schema[name]
    const isShown = limit !== undefined && Math.abs(Number(limit)) !== Number.MAX_SAFE_INTEGER
    return isShown ? [`${name} <code>${linesOf(JSON.stringify(limit))}</code>`] : []
  })
  return [linesOf(format === undefined ? known : `${known} (${format})`), ...bounds].join(", ")
}

const nameOf = (ref: string): string => decodeURIComponent(ref.slice(ref.lastIndexOf("/") + 1))

/** Returns the names of the schemas that a part of a description reaches, in alphabetical order. */
export const namesIn = (part: unknown, schemas: Schemas): ReadonlyArray<string> => {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    for (const [, ref] of JSON.stringify(value).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      const name = nameOf(ref!)
      if (found.has(name) || schemas[name] === undefined) continue
      found.add(name)
      visit(schemas[name])
    }
  }
  visit(part)
  return [...found].toSorted()
}
