/**
 * Decoders of small JSON bodies, compiled from a schema once. A compiled decoder accepts only valid bodies. The schema
 * decodes all others again to describe the errors.
 */
import { Result, Schema, SchemaAST } from "effect"
import { checksOf } from "./Checks.ts"

/** Stands for a body that does not fit, or that the compiled decoder cannot tell. */
export const notDecoded: unique symbol = Symbol("usher/http/notDecoded")

type Decode = (value: unknown) => unknown

/** Returns the decoded body of a text, or `notDecoded`. */
export type JsonDecoder = (text: string) => unknown

/**
 * Compiles the payload schemas of an endpoint; undefined if they contain something that is not covered. A body that was
 * not sent counts as null.
 */
export const compileDecoder = (schemas: ReadonlyArray<Schema.Constraint>): JsonDecoder | undefined => {
  const members: Array<Decode> = []
  for (const schema of schemas) {
    const decode = decoderOf(schema.ast)
    if (decode === undefined) return undefined
    members.push(decode)
  }
  const decode = firstThatFits(members)
  return (text) => {
    const json = text === "" ? Result.succeed(null) : Result.try((): unknown => JSON.parse(text))
    return Result.isSuccess(json) ? decode(json.success) : notDecoded
  }
}

const firstThatFits =
  (members: ReadonlyArray<Decode>): Decode =>
  (value) => {
    for (const decode of members) {
      const decoded = decode(value)
      if (decoded !== notDecoded) return decoded
    }
    return notDecoded
  }

function decoderOf(ast: SchemaAST.AST): Decode | undefined {
  const { encoding } = ast
  if (encoding === undefined) return checked(ast, plainDecoderOf(ast))
  const [link, ...further] = encoding
  const { transformation } = link
  if (further.length > 0 || transformation._tag !== "Transformation" || ast._tag !== "String") return undefined
  const { decode } = transformation
  const read = decoderOf(link.to)
  if (read === undefined || decode._tag !== "Transform") return undefined
  const transform = decode.transform as (value: unknown) => unknown
  return checked(ast, (value) => {
    const before = read(value)
    return before === notDecoded ? notDecoded : transform(before)
  })
}

function checked(ast: SchemaAST.AST, decode: Decode | undefined): Decode | undefined {
  const passes = checksOf(ast)
  if (decode === undefined || passes === undefined) return decode
  return (value) => {
    const decoded = decode(value)
    return decoded === notDecoded || !passes(decoded) ? notDecoded : decoded
  }
}

const when =
  (fits: (value: unknown) => boolean): Decode =>
  (value) =>
    fits(value) ? value : notDecoded

function plainDecoderOf(ast: SchemaAST.AST): Decode | undefined {
  switch (ast._tag) {
    case "Null":
      return when((value) => value === null)
    case "Boolean":
      return when((value) => typeof value === "boolean")
    case "String":
      return when((value) => typeof value === "string")
    case "Number":
      return when((value) => typeof value === "number")
    case "Literal":
      return when((value) => value === ast.literal)
    case "Objects":
      return structDecoder(ast)
    case "Union":
      return unionDecoder(ast)
    default:
      return undefined
  }
}

function unionDecoder({ types }: SchemaAST.Union): Decode | undefined {
  const members = types.map(decoderOf)
  return members.every((member) => member !== undefined) ? firstThatFits(members) : undefined
}

function structDecoder({ propertySignatures, indexSignatures }: SchemaAST.Objects): Decode | undefined {
  if (indexSignatures.length > 0) return undefined
  const fields: Array<{ readonly name: string; readonly isOptional: boolean; readonly decode: Decode }> = []
  for (const { name, type } of propertySignatures) {
    const decode = decoderOf(type)
    if (decode === undefined || typeof name !== "string") return undefined
    fields.push({ name, isOptional: SchemaAST.isOptional(type), decode })
  }
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return notDecoded
    const decoded: Record<string, unknown> = {}
    for (const { name, isOptional, decode } of fields) {
      const isPresent = Object.hasOwn(value, name)
      if (!isPresent && isOptional) continue
      const field = isPresent ? decode((value as Record<string, unknown>)[name]) : notDecoded
      if (field === notDecoded) return notDecoded
      decoded[name] = field
    }
    return decoded
  }
}
