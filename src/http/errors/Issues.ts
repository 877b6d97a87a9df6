/**
 * The issues of a request, in the form in which the caller gets them.
 *
 * Values in issues are short, and bounded for a request of any size. A value in a secret field is never shown.
 */
import type { SchemaIssue } from "effect"
import type { Issue } from "../../api/Errors.ts"
import { collect, type SchemaProblem, type Path } from "./SchemaProblem.ts"

/** Issues of one request. The limit keeps a hostile body from causing a huge answer. */
export const issuesMax = 100

/** The issue of a body that is not JSON. */
export const notJson: Issue = {
  kind: "schema",
  type: "json",
  expected: "JSON",
  received: "text that is not JSON",
  message: "Invalid type: Expected JSON but received text that is not JSON",
  path: []
}

/** Makes an issue for a check that no schema can express: at a key, or at the end of a path. */
export const issueAt = (
  input: { readonly [key: string]: unknown },
  at: string | Path,
  problem: { readonly kind: Issue["kind"]; readonly type: string; readonly expected: string }
): Issue => toIssue({ ...problem, isSettled: true }, input, typeof at === "string" ? [at] : at)

/** The issue of a part of the input, as an issue of the whole input. `path` leads to the part. */
export const issueWithin = (issue: Issue, input: unknown, path: Path): Issue => ({
  ...issue,
  path: [...follow(input, path).items, ...issue.path]
})

/** Every issue below `issue`, for the decoded value `input`. */
export function issuesOf(issue: SchemaIssue.Issue, input: unknown): ReadonlyArray<Issue> {
  const issues: Array<Issue> = []
  collect(issue, [], undefined, (problem, path) => {
    if (issues.length < issuesMax) issues.push(toIssue(problem, input, path))
  })
  return issues
}

function toIssue(problem: SchemaProblem, input: unknown, path: Path): Issue {
  const { items, value, secret } = follow(input, path)
  if (problem.discriminator !== undefined && typeof value === "object" && value !== null && !Array.isArray(value)) {
    return toIssue(problem.discriminator.problem, input, [...path, problem.discriminator.key])
  }
  const { kind, type, expected } = settle(problem, value)
  const received = secret && value !== undefined ? redacted : describe(value)
  const label = kind === "schema" ? "type" : "value"
  return {
    kind,
    type,
    expected,
    received,
    message: `Invalid ${label}: Expected ${expected} but received ${received}`,
    path: items
  }
}

/**
 * The problem with the parts that depend on the value: the bound that it broke, and whether it has the type of a
 * literal.
 */
function settle(problem: SchemaProblem, value: unknown): SchemaProblem {
  if (problem.isSettled === true) return problem
  if (problem.type === "picklist" && typeof value !== "string") return { ...problem, kind: "schema" }
  if (problem.type !== "value" && problem.type !== "length") return problem
  const [minimum, maximum] = problem.expected.split(" and ") as [string, string]
  const size = problem.type === "value" ? Number(value) : (value as string | ReadonlyArray<unknown>).length
  return size < Number(minimum.slice(">=".length))
    ? { ...problem, type: `min_${problem.type}`, expected: minimum }
    : { ...problem, type: `max_${problem.type}`, expected: maximum }
}

const textLengthMax = 100
const entriesMax = 20

/** Text in the form of a key or a token. */
const secretText = /[ps]k_(?:live|test)_[\w-]{4,}|eyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g

/** The names of fields that hold secrets: one-time codes, access codes, tokens, keys, passwords. */
const secretField = /^(code|accesscode|exchangecode|authorization)$|(token|secret|password|key)s?$/i
/** The text in place of a secret. */
export const redacted = "[redacted]"

/** The containers along the path, the value at its end, and whether the value is a secret. */
export function follow(input: unknown, path: ReadonlyArray<PropertyKey>) {
  const items: Array<Issue["path"][number]> = []
  let value = input
  let secret = false
  for (const key of path) {
    const type = Array.isArray(value) ? "array" : "object"
    items.push({ type, origin: "value", key: String(key), input: secret ? redacted : excerpt(value) })
    secret ||= typeof key === "string" && secretField.test(key)
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
  }
  return { items, value, secret }
}

/** The value as a message shows it. */
export function describe(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shorten(value))
  if (typeof value !== "object" || value === null) return String(value)
  return Array.isArray(value) ? "Array" : "Object"
}

/** The start of the text, without keys and tokens. Only the start is searched, so that long text costs little. */
function shorten(text: string): string {
  const short = text.slice(0, textLengthMax).replaceAll(secretText, redacted)
  return text.length <= textLengthMax ? short : `${short}…`
}

/** A shallow, short copy. Nested objects and arrays are shown empty, secrets as the placeholder. */
function excerpt(value: unknown): Issue["path"][number]["input"] {
  if (Array.isArray(value)) return value.slice(0, entriesMax).map(shallow)
  if (typeof value !== "object" || value === null) return shallow(value)
  const entries = Object.entries(value).slice(0, entriesMax)
  return Object.fromEntries(
    entries.map(([key, inner]) => [shorten(key), secretField.test(key) ? redacted : shallow(inner)])
  )
}

function shallow(value: unknown): Issue["path"][number]["input"] {
  if (typeof value === "string") return shorten(value)
  // JSON has no infinity, but the parser reads `1e999` as one.
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value)
  if (typeof value === "boolean" || value === null) return value
  return value === undefined ? null : Array.isArray(value) ? [] : {}
}
