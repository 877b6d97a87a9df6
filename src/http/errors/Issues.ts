/**
 * The issues of a request, in the form in which the caller gets them.
 *
 * Values in issues are short, and bounded for a request of any size. A value in a secret field is never shown.
 */
import type { SchemaIssue } from "effect"
import type { Issue } from "../../api/Errors.ts"
import { describe, follow, redacted } from "./Excerpts.ts"
import { collect, type Found, type Path } from "./Found.ts"

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
  found: { readonly kind: Issue["kind"]; readonly type: string; readonly expected: string }
): Issue => toIssue({ ...found, isSettled: true }, input, typeof at === "string" ? [at] : at)

/** The issue of a part of the input, as an issue of the whole input. `path` leads to the part. */
export const issueWithin = (issue: Issue, input: unknown, path: Path): Issue => ({
  ...issue,
  path: [...follow(input, path).items, ...issue.path]
})

/** Every issue below `issue`, for the decoded value `input`. */
export function issuesOf(issue: SchemaIssue.Issue, input: unknown): ReadonlyArray<Issue> {
  const issues: Array<Issue> = []
  collect(issue, [], undefined, (found, path) => {
    if (issues.length < issuesMax) issues.push(toIssue(found, input, path))
  })
  return issues
}

function toIssue(found: Found, input: unknown, path: Path): Issue {
  const { items, value, secret } = follow(input, path)
  if (found.apart !== undefined && typeof value === "object" && value !== null && !Array.isArray(value)) {
    return toIssue(found.apart.found, input, [...path, found.apart.key])
  }
  const { kind, type, expected } = settle(found, value)
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
function settle(found: Found, value: unknown): Found {
  if (found.isSettled === true) return found
  if (found.type === "picklist" && typeof value !== "string") return { ...found, kind: "schema" }
  if (found.type !== "value" && found.type !== "length") return found
  const [minimum, maximum] = found.expected.split(" and ") as [string, string]
  const size = found.type === "value" ? Number(value) : (value as string | ReadonlyArray<unknown>).length
  return size < Number(minimum.slice(">=".length))
    ? { ...found, type: `min_${found.type}`, expected: minimum }
    : { ...found, type: `max_${found.type}`, expected: maximum }
}
