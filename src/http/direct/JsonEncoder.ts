/**
 * Encoders of JSON answers, compiled from a schema once. `Schema.encode` interprets the schema for each value, which
 * costs several times as much. A compiled encoder writes the same text, and makes the same checks.
 *
 * It covers the parts of answers: structs, arrays, unions, literals, text, numbers, booleans, null, and pure
 * transformations such as that of a timestamp.
 */
import { Result, Schema, SchemaAST } from "effect"
import { checksOf } from "./Checks.ts"

/** Returns the JSON text of a value; undefined if the value does not fit the schema. */
export type JsonEncoder = (value: unknown) => string | undefined

/** Compiles the schema; undefined if it contains something that is not covered. */
export const compileEncoder = (schema: Schema.Constraint): JsonEncoder | undefined => {
  const encode = encoderOf(Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>).ast)
  if (encode === undefined) return undefined
  // A transformation throws for a value that it cannot transform.
  return (value) => Result.getOrUndefined(Result.try(() => encode(value)))
}

function encoderOf(ast: SchemaAST.AST): JsonEncoder | undefined {
  const { encoding } = ast
  if (encoding === undefined) return checked(ast, plainEncoderOf(ast))
  const [link, ...further] = encoding
  const { transformation } = link
  if (further.length > 0 || transformation._tag !== "Transformation") return undefined
  const { encode } = transformation
  const written = encoderOf(link.to)
  const isInside = typeTests[ast._tag]
  if (written === undefined || isInside === undefined) return undefined
  if (encode._tag === "Passthrough") return checked(ast, (value) => (isInside(value) ? written(value) : undefined))
  if (encode._tag !== "Transform") return undefined
  const transform = encode.transform as (value: unknown) => unknown
  return checked(ast, (value) => (isInside(value) ? written(transform(value)) : undefined))
}

const typeTests: { readonly [tag: string]: ((value: unknown) => boolean) | undefined } = {
  String: (value) => typeof value === "string",
  Number: (value) => typeof value === "number"
}

/** Adds the checks of the schema. */
function checked(ast: SchemaAST.AST, encode: JsonEncoder | undefined): JsonEncoder | undefined {
  const passes = checksOf(ast)
  if (encode === undefined || passes === undefined) return encode
  return (value) => {
    const text = encode(value)
    return text !== undefined && passes(value) ? text : undefined
  }
}

function plainEncoderOf(ast: SchemaAST.AST): JsonEncoder | undefined {
  switch (ast._tag) {
    case "Null":
      return (value) => (value === null ? "null" : undefined)
    case "Boolean":
      return (value) => (value === true ? "true" : value === false ? "false" : undefined)
    case "String":
      return (value) => (typeof value === "string" ? JSON.stringify(value) : undefined)
    case "Number":
      return (value) => (typeof value === "number" && Number.isFinite(value) ? JSON.stringify(value) : undefined)
    case "Literal":
      return literalsEncoder([ast.literal])
    case "Arrays":
      return arrayEncoder(ast)
    case "Objects":
      return structEncoder(ast)
    case "Union":
      return unionEncoder(ast)
    default:
      return undefined
  }
}

function literalsEncoder(literals: ReadonlyArray<SchemaAST.LiteralValue>): JsonEncoder | undefined {
  if (literals.some((literal) => typeof literal === "bigint")) return undefined
  const texts = new Map<unknown, string>(literals.map((literal) => [literal, JSON.stringify(literal)]))
  return (value) => texts.get(value)
}

function arrayEncoder({ elements, rest }: SchemaAST.Arrays): JsonEncoder | undefined {
  const [item, ...after] = rest
  if (elements.length > 0 || item === undefined || after.length > 0) return undefined
  const encode = encoderOf(item)
  if (encode === undefined) return undefined
  return (value) => {
    if (!Array.isArray(value)) return undefined
    let text = "["
    for (let index = 0; index < value.length; index++) {
      const part = encode(value[index])
      if (part === undefined) return undefined
      text += index === 0 ? part : `,${part}`
    }
    return `${text}]`
  }
}

interface Field {
  readonly name: string
  /** `"name":` */
  readonly label: string
  readonly isOptional: boolean
  readonly encode: JsonEncoder
}

function structEncoder({ propertySignatures, indexSignatures }: SchemaAST.Objects): JsonEncoder | undefined {
  if (indexSignatures.length > 0) return undefined
  const fields: Array<Field> = []
  for (const { name, type } of propertySignatures) {
    const encode = encoderOf(type)
    if (encode === undefined || typeof name !== "string") return undefined
    fields.push({ name, label: `${JSON.stringify(name)}:`, isOptional: SchemaAST.isOptional(type), encode })
  }
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
    let text = "{"
    for (const { name, label, isOptional, encode } of fields) {
      const field = (value as { readonly [name: string]: unknown })[name]
      if (field === undefined && isOptional && !Object.hasOwn(value, name)) continue
      const part = encode(field)
      if (part === undefined) return undefined
      text += text.length === 1 ? label + part : `,${label}${part}`
    }
    return `${text}}`
  }
}

/**
 * A union of literals, or of members of which the first that fits is written. Structs are told apart by their first
 * literal field, so only those with the literal of the value are tried.
 */
function unionEncoder({ types }: SchemaAST.Union): JsonEncoder | undefined {
  if (types.every(SchemaAST.isLiteral)) return literalsEncoder(types.map(({ literal }) => literal))
  const members: Array<JsonEncoder> = []
  for (const type of types) {
    const encode = encoderOf(type)
    if (encode === undefined) return undefined
    members.push(encode)
  }
  const tag = tagOf(types)
  return tag === undefined ? firstThatFits(members) : byTag(tag, types, members)
}

const firstThatFits =
  (members: ReadonlyArray<JsonEncoder>): JsonEncoder =>
  (value) => {
    for (const encode of members) {
      const text = encode(value)
      if (text !== undefined) return text
    }
    return undefined
  }

function byTag(tag: string, types: ReadonlyArray<SchemaAST.AST>, members: ReadonlyArray<JsonEncoder>): JsonEncoder {
  const membersOf = new Map<unknown, Array<JsonEncoder>>()
  types.forEach((type, index) => {
    for (const literal of literalsAt(type, tag)!) {
      membersOf.set(literal, [...(membersOf.get(literal) ?? []), members[index]!])
    }
  })
  const encoders = new Map([...membersOf].map(([literal, some]) => [literal, firstThatFits(some)]))
  return (value) =>
    typeof value === "object" && value !== null
      ? encoders.get((value as { readonly [name: string]: unknown })[tag])?.(value)
      : undefined
}

/** The first field that is a literal in every member. */
function tagOf(types: ReadonlyArray<SchemaAST.AST>): string | undefined {
  const [first] = types
  if (first === undefined || !SchemaAST.isObjects(first)) return undefined
  return first.propertySignatures
    .map(({ name }) => name)
    .filter((name) => typeof name === "string")
    .find((name) => types.every((type) => literalsAt(type, name) !== undefined))
}

/** The literals that a member allows in a field. */
function literalsAt(type: SchemaAST.AST, name: string): ReadonlyArray<SchemaAST.LiteralValue> | undefined {
  if (!SchemaAST.isObjects(type) || type.encoding !== undefined) return undefined
  const field = type.propertySignatures.find((signature) => signature.name === name)?.type
  if (field === undefined || field.encoding !== undefined) return undefined
  if (SchemaAST.isLiteral(field)) return [field.literal]
  if (SchemaAST.isUnion(field) && field.types.every(SchemaAST.isLiteral))
    return field.types.map(({ literal }) => literal)
  return undefined
}
