/** The problems of a value that does not fit its schema, in the terms of the APIs. */
import { SchemaAST, type SchemaIssue } from "effect"
import type { Issue } from "../../api/Errors.ts"

/** One problem, without its value. */
export interface SchemaProblem {
  readonly kind: Issue["kind"]
  readonly type: string
  readonly expected: string
  /** True if nothing in it depends on the value. */
  readonly isSettled?: boolean
  /**
   * The problem of the field that tells the members of a union apart. It replaces this one if the value is an object.
   */
  readonly discriminator?: { readonly key: PropertyKey; readonly problem: SchemaProblem }
}

export type Path = ReadonlyArray<PropertyKey>

/** Emits every problem below `issue`. `parent` is the type of the container that the path leads into. */
export function collect(
  issue: SchemaIssue.Issue,
  path: Path,
  parent: SchemaAST.AST | undefined,
  emit: (problem: SchemaProblem, path: Path) => void
): void {
  switch (issue._tag) {
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], parent, emit)
    case "Encoding":
      return collect(issue.issue, path, parent, emit)
    case "Filter":
      return emit(ofFilter(issue.filter), path)
    case "Composite": {
      // If text is not a number, the checks on the number add nothing.
      const wrongType = issue.issues.find(
        (inner) => inner._tag === "Filter" && ofFilter(inner.filter).kind === "schema"
      )
      for (const inner of wrongType === undefined ? issue.issues : [wrongType]) collect(inner, path, issue.ast, emit)
      return
    }
    case "AnyOf": {
      const literals = literalsOf(issue.ast)
      if (literals !== undefined) return emit(ofLiterals(literals), path)
      if (issue.issues.length === 0) return emit(ofUnion(issue.ast), path)
      // The caller most likely meant the member with the fewest problems.
      const nearest = issue.issues.reduce((a, b) => (countOf(b) < countOf(a) ? b : a))
      return collect(nearest, path, parent, emit)
    }
    case "InvalidType":
      return emit(ofType(issue.ast), path)
    case "MissingKey":
      return emit(ofType(typeAt(parent, path.at(-1))), path)
    case "UnexpectedKey":
      return emit({ kind: "schema", type: "object", expected: "never" }, path)
    case "InvalidValue":
    case "Forbidden": {
      const expected = issue.annotations?.["expected"] ?? issue.annotations?.["message"]
      return emit({ kind: "validation", type: "custom", expected: expected ?? "a valid value" }, path)
    }
    case "OneOf":
      return emit(ofType(issue.ast), path)
  }
}

/** The number of problems. A missing field counts more than a wrong one. */
function countOf(issue: SchemaIssue.Issue): number {
  if (issue._tag === "MissingKey") return 2
  if (issue._tag === "Composite" || issue._tag === "AnyOf") return issue.issues.reduce((n, i) => n + countOf(i), 0)
  return "issue" in issue ? countOf(issue.issue) : 1
}

/** The problem of a value that has not the type `ast`, in its encoded form. */
function ofType(ast: SchemaAST.AST | undefined): SchemaProblem {
  if (ast === undefined) return { kind: "schema", type: "object", expected: "object" }
  // A field that must be absent because of another one.
  if (SchemaAST.isNull(ast)) {
    const expected = ast.annotations?.["expected"]
    return { kind: "validation", type: "picklist", expected: typeof expected === "string" ? expected : "null" }
  }
  const literals = literalsOf(ast)
  if (literals !== undefined) return ofLiterals(literals)
  const type = typeName(SchemaAST.toEncoded(ast))
  return { kind: "schema", type, expected: type }
}

/** The problem of a value that matches no member of the union. */
function ofUnion(union: SchemaAST.Union): SchemaProblem {
  const members = union.types.map((member) => SchemaAST.toEncoded(member))
  const fields = members.map((member) => (member._tag === "Objects" ? member.propertySignatures : []))
  for (const { name } of fields[0] ?? []) {
    const types = fields.map((signatures) => signatures.find((signature) => signature.name === name)?.type)
    const literals = types.flatMap((type) => (type?._tag === "Literal" ? [type.literal] : []))
    if (literals.length === members.length)
      return { ...ofType(union), discriminator: { key: name, problem: ofLiterals(literals) } }
  }
  return ofType(union)
}

function typeName(ast: SchemaAST.AST): string {
  switch (ast._tag) {
    case "Number":
      return "number"
    case "Boolean":
      return "boolean"
    case "Objects":
      return "object"
    case "Arrays":
      return "array"
    case "Union": {
      const member = ast.types.find((type) => type._tag !== "Null" && type._tag !== "Undefined")
      return member === undefined ? "object" : typeName(member)
    }
    case "Suspend":
      return typeName(ast.thunk())
    case "Declaration":
    case "ObjectKeyword":
    case "Any":
    case "Unknown":
      return "object"
    default:
      return isAmount(ast) ? "amount" : "string"
  }
}

/** True for an amount. It is text, but a caller that sends a number gets an issue about an amount. */
const isAmount = ({ checks }: SchemaAST.AST): boolean =>
  checks?.some(({ annotations }) => annotations?.representation?.id === "usher/amount") ?? false

function literalsOf(ast: SchemaAST.AST): ReadonlyArray<SchemaAST.LiteralValue | null> | undefined {
  const encoded = SchemaAST.toEncoded(ast)
  if (encoded._tag === "Null") return [null]
  if (encoded._tag === "Literal") return [encoded.literal]
  if (encoded._tag !== "Union") return undefined
  const literals: Array<SchemaAST.LiteralValue> = []
  for (const type of encoded.types) {
    if (type._tag === "Literal") literals.push(type.literal)
    else if (type._tag !== "Null" && type._tag !== "Undefined") return undefined
  }
  return literals.length === 0 ? undefined : literals
}

function ofLiterals(literals: ReadonlyArray<SchemaAST.LiteralValue | null>): SchemaProblem {
  const texts = literals.map((literal) => (typeof literal === "string" ? JSON.stringify(literal) : String(literal)))
  return { kind: "validation", type: "picklist", expected: texts.length === 1 ? texts[0]! : `(${texts.join(" | ")})` }
}

/** The type of the missing key, from the type of its object. */
function typeAt(parent: SchemaAST.AST | undefined, key: PropertyKey | undefined): SchemaAST.AST | undefined {
  const object = parent === undefined ? undefined : SchemaAST.toEncoded(parent)
  if (object?._tag !== "Objects") return undefined
  return object.propertySignatures.find((signature) => signature.name === key)?.type
}

/** The problem of a failed check, from the check's identity (`effect/schema/…`, or `usher/<type>`). */
function ofFilter(filter: SchemaAST.Filter<unknown>): SchemaProblem {
  const { expected = "a valid value", representation } = filter.annotations ?? {}
  const id = representation?.id ?? ""
  if (id.startsWith("usher/")) return { kind: "validation", type: id.slice("usher/".length), expected }
  const bounds = (representation?.payload ?? {}) as { readonly [name: string]: unknown }
  const validation = (type: string, expected: string): SchemaProblem => ({ kind: "validation", type, expected })
  switch (id) {
    case "effect/schema/isFinite":
    case "effect/schema/isStringFinite":
      return { kind: "schema", type: "number", expected: "number" }
    case "effect/schema/isInt":
      return validation("integer", "integer")
    case "effect/schema/isMinLength":
      return validation("min_length", `>=${bounds["minLength"]}`)
    case "effect/schema/isMaxLength":
      return validation("max_length", `<=${bounds["maxLength"]}`)
    case "effect/schema/isBetweenLength":
      return validation("length", `>=${bounds["minimum"]} and <=${bounds["maximum"]}`)
    case "effect/schema/isGreaterThan":
      return validation("min_value", `>${bounds["exclusiveMinimum"]}`)
    case "effect/schema/isGreaterThanOrEqualTo":
      return validation("min_value", `>=${bounds["minimum"]}`)
    case "effect/schema/isLessThan":
      return validation("max_value", `<${bounds["exclusiveMaximum"]}`)
    case "effect/schema/isLessThanOrEqualTo":
      return validation("max_value", `<=${bounds["maximum"]}`)
    case "effect/schema/isBetween":
      return validation("value", `>=${bounds["minimum"]} and <=${bounds["maximum"]}`)
    case "effect/schema/isUUID":
    case "effect/schema/isGUID":
      return validation("uuid", "a UUID")
    default:
      return validation("custom", expected)
  }
}
