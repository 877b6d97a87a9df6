/** The parts of a request that issues show. They are short, bounded for a request of any size, and without secrets. */
import type { Issue } from "../../api/Errors.ts"

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
