/** The pages of an API's reference, as HTML. The description is the one that `/openapi.json` has. */
import { elementOf, linesOf } from "../../domain/experience/creative/rendering/Escaping.ts"
import { inline, slugOf, textHtml } from "./ReferenceText.ts"
import { type Schema, schemaHtml, type Schemas, namesIn } from "./ReferenceSchema.ts"

interface Operation {
  readonly operationId?: string
  readonly tags?: ReadonlyArray<string>
  readonly summary?: string
  readonly description?: string
  readonly security?: ReadonlyArray<{ readonly [name: string]: unknown }>
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Contents; readonly required?: boolean }
  readonly responses?: { readonly [status: string]: { readonly description?: string; readonly content?: Contents } }
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

type Contents = { readonly [type: string]: { readonly schema?: Schema } }
type Paths = { readonly [path: string]: { readonly [method: string]: Operation } }

interface Tag {
  readonly name: string
  readonly description?: string
}

/** What the pages use of a description. */
export interface Described {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags: ReadonlyArray<Tag>
  readonly paths: Paths
  readonly webhooks?: Paths
  readonly components: { readonly schemas: Schemas; readonly securitySchemes?: { readonly [name: string]: Tag } }
}

/** An operation with its place. */
interface Placed {
  readonly path: string
  readonly method: string
  readonly operation: Operation
}

export const style = `:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:auto;padding:24px 16px}
h1{font-size:28px}h2{font-size:20px;margin-top:40px}h1,h2{line-height:1.2}h3{font-size:15px;margin-bottom:4px}
code,.path{font:13px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
section,li{margin-bottom:8px}section{border-top:1px solid #8886;margin-top:24px}
dl{margin:0}dt{margin-top:8px}dd{margin:0 0 4px;margin-inline-start:16px}
.type{color:GrayText}summary{cursor:pointer;min-height:24px}details{margin-block:4px}details>*+*{margin-inline-start:16px}`

/** The list of all operations, by group. */
export const indexPage = (described: Described): string => {
  const { info, tags, components } = described
  const groups = tags.map(
    (tag) =>
      `<h2><a href="/docs/${slugOf(tag.name)}">${linesOf(tag.name)}</a></h2>${textHtml(tag.description)}<ul>${placedIn(
        described,
        tag
      )
        .map(
          (placed) =>
            `<li><a href="/docs/${slugOf(tag.name)}#${idOf(placed)}">${titleOf(placed)}</a> ${pathOf(placed)}</li>`
        )
        .join("")}</ul>`
  )
  const credentials = Object.entries(components.securitySchemes ?? {}).map(
    ([name, { description }]) => `<dt><code>${linesOf(name)}</code></dt><dd>${inline(description ?? "")}</dd>`
  )
  const intro = `${textHtml(info.description)}<p><a href="/openapi.json">The description as data (OpenAPI)</a></p>`
  return pageOf(
    info.title,
    `<h1>${linesOf(info.title)} ${linesOf(info.version)}</h1>${intro}<h2>Credentials</h2><dl>${credentials.join("")}</dl>${groups.join("")}`
  )
}

/** The operations of one group, with the schemas that they name. */
export const groupPage = (described: Described, tag: Tag): string => {
  const operations = placedIn(described, tag)
  const { schemas } = described.components
  const names = namesIn(
    operations.map(({ operation }) => operation),
    schemas
  )
  const shown = names.map(
    (name) => `<section id="${slugOf(name)}"><h3>${linesOf(name)}</h3>${schemaHtml(schemas[name]!)}</section>`
  )
  const list = operations.map(
    (placed) => `<li><a href="#${idOf(placed)}">${titleOf(placed)}</a> ${pathOf(placed)}</li>`
  )
  return pageOf(
    `${tag.name} – ${described.info.title}`,
    `<p><a href="/docs">${linesOf(described.info.title)}</a></p><h1>${linesOf(tag.name)}</h1>${textHtml(tag.description)}` +
      `<ul>${list.join("")}</ul>${operations.map(operationHtml).join("")}<h2 id="schemas">Schemas</h2>${shown.join("")}`
  )
}

const placedIn = ({ paths, webhooks = {} }: Described, { name }: Tag): ReadonlyArray<Placed> =>
  [paths, webhooks].flatMap((all) =>
    Object.entries(all).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        operation.tags?.includes(name) === true ? [{ path, method, operation }] : []
      )
    )
  )

const idOf = ({ path, method, operation }: Placed): string => slugOf(operation.operationId ?? `${method} ${path}`)

const titleOf = ({ path, method, operation: { summary, operationId } }: Placed): string =>
  linesOf(summary ?? operationId ?? `${method} ${path}`)

const pathOf = ({ path, method }: Placed): string =>
  elementOf("span", { class: "path" }, `${method.toUpperCase()} ${linesOf(path)}`)

const operationHtml = (placed: Placed): string => {
  const { description, security = [], parameters = [], requestBody, responses = {} } = placed.operation
  const credentials = security.map((each) =>
    Object.keys(each)
      .map((name) => `<code>${linesOf(name)}</code>`)
      .join(" and ")
  )
  const sent = parameters.map(
    ({ name, in: where, required, description: text = "", schema = {} }) =>
      `<dt><code>${linesOf(name)}</code> <span class="type">${where}${required === true ? ", required" : ""}</span></dt><dd>${inline(text)}${schemaHtml(schema)}</dd>`
  )
  const answers = Object.entries(responses).map(
    ([status, { description: text = "", content }]) =>
      `<details><summary>${linesOf(status)} ${inline(text)}</summary>${contentHtml(content)}</details>`
  )
  return (
    `<section id="${idOf(placed)}"><h2>${titleOf(placed)}</h2><p>${pathOf(placed)}</p>${textHtml(description)}` +
    (credentials.length > 0 ? `<p>Credentials: ${credentials.join(", or ")}</p>` : "") +
    (sent.length > 0 ? `<h3>Parameters</h3><dl>${sent.join("")}</dl>` : "") +
    (requestBody === undefined
      ? ""
      : `<h3>Body${requestBody.required === true ? "" : ", optional"}</h3>${contentHtml(requestBody.content)}`) +
    `<h3>Responses</h3>${answers.join("")}</section>`
  )
}

const contentHtml = (content: Contents = {}): string =>
  Object.entries(content)
    .map(([type, { schema = {} }]) => `<p class="type">${linesOf(type)}</p>${schemaHtml(schema)}`)
    .join("")

const pageOf = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${linesOf(title)}</title><link rel="icon" href="data:,"><style>${style}</style></head><body><main>${body}</main></body></html>`
