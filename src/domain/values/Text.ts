/** Free text and free JSON from requests. A value that passes these checks can be stored, and is returned unchanged. */
import { Predicate, Schema, SchemaTransformation } from "effect"

/** Limit for the nesting of free JSON: far more than real documents have, and far less than would exhaust a stack. */
export const jsonDepthMax = 32

/** True if the database can store the text: no NUL, no lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

/**
 * Text from outside in the form in which the database can store it. What is no text becomes U+FFFD: bytes that are not
 * UTF-8, NUL, lone surrogates. A character whose end is missing is left out.
 */
export const storableText = (outside: string | Uint8Array): string => {
  // A decoder of a stream keeps back the beginning of a character.
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
  const read = typeof outside === "string" ? outside.toWellFormed() : utf8.decode(outside, { stream: true })
  return read.replaceAll("\u0000", "\uFFFD")
}

/** Returns the text without the blanks and invisible characters at its ends. */
export const trimmed = (text: string): string =>
  text.replace(/^[\s\p{Cf}]+/u, "").replace(/(?<![\s\p{Cf}])[\s\p{Cf}]+$/u, "")

/** Returns the number of characters: of code points, as the database and JSON Schema count. */
export const lengthOf = (text: string): number => {
  let length = text.length
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) length--
  return length
}

const bound = (
  name: "min_length" | "max_length",
  expected: string,
  fits: (text: string) => boolean,
  json: { readonly minLength: number } | { readonly maxLength: number }
) =>
  Schema.makeFilter(fits, {
    expected,
    representation: { id: `usher/${name}`, payload: null },
    toJsonSchema: () => json
  })

/** Checks that the text has at most so many characters. */
export const isAtMost = (maxLength: number) =>
  bound("max_length", `<=${maxLength}`, (text) => text.length <= maxLength || lengthOf(text) <= maxLength, {
    maxLength
  })

/** Checks that the text has at least so many characters. */
export const isAtLeast = (minLength: number) =>
  bound("min_length", `>=${minLength}`, (text) => lengthOf(text) >= minLength, { minLength })

/** Text the database can store, of at most `maxLength` characters. */
export const text = (options: { readonly minLength?: number; readonly maxLength: number }) => {
  const storable = Schema.String.check(
    Schema.makeFilter(isStorable, {
      expected: "text without NUL and without lone surrogates",
      representation: { id: "usher/string", payload: null },
      toJsonSchema: () => ({})
    })
  )
  const bounded = storable.check(isAtMost(options.maxLength))
  return options.minLength === undefined ? bounded : bounded.check(isAtLeast(options.minLength))
}

/** The same text in NFC, for what is compared exactly: the two ways to write a letter with a mark are one key. */
export const key = (options: { readonly minLength: number; readonly maxLength: number }) =>
  text(options).pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: (text) => text.normalize("NFC"), encode: (text) => text })
    )
  )

/** An absolute `https` URL without user and password. A page may show it or link to it. */
export const HttpsUrl = text({ maxLength: 2_000 }).check(
  Schema.makeFilter(isHttpsUrl, {
    expected: "an absolute https URL",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ format: "uri", pattern: "^https://" })
  })
)

export function isHttpsUrl(value: string): boolean {
  if (!/^https:\/\/[^\s\p{Cc}]+$/u.test(value)) return false
  const url = URL.parse(value)
  return url !== null && url.username === "" && url.password === ""
}

/**
 * True for an absolute URI of any scheme (RFC 3986), also with letters that a URI would encode. A page must check the
 * scheme before it shows or links to one.
 */
export function isUri(value: string): boolean {
  return /^[a-z][a-z\d+.-]*:[^\s\p{Cc}]+$/iu.test(value) && (!/^https?:/i.test(value) || URL.canParse(value))
}

/** A record's name. */
export const Name = text({ minLength: 1, maxLength: 200 })

/**
 * Any value read from JSON, not walked. Walking a deeply nested value would block the process, so a check with a depth
 * limit must run first.
 */
export const AnyJson = Schema.declare((value: unknown): value is unknown => value !== undefined, {
  expected: "JSON",
  representation: { id: "usher/AnyJson", payload: null },
  toCodecJson: () => undefined
})

/** Checks that the database can store the JSON, and that it is nested at most `depthMax` deep. */
export const storableJson = (depthMax: number) =>
  Schema.makeFilter((value: { readonly [key: string]: unknown }) => isStorableJson(value, depthMax), {
    expected: `JSON nested at most ${depthMax} deep, its text without NUL and lone surrogates, its numbers finite`,
    representation: { id: "usher/json", payload: null },
    toJsonSchema: () => ({})
  })

/** A JSON object with free content, stored as sent. */
export const JsonObject = Schema.Record(Schema.String, AnyJson).check(
  // Later checks can rely on the depth.
  storableJson(jsonDepthMax).abort()
)

/** Checks level by level, so that no nesting can exhaust the stack. */
function isStorableJson(root: unknown, depthMax: number): boolean {
  let level: Array<unknown> = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return false
    const next: Array<unknown> = []
    for (const value of level) {
      if (typeof value === "string" && !isStorable(value)) return false
      // `1e999` parses as Infinity, which JSON cannot represent.
      if (typeof value === "number" && !Number.isFinite(value)) return false
      if (Array.isArray(value)) {
        for (const item of value) next.push(item)
      } else if (Predicate.isObject(value)) {
        for (const key of Object.keys(value)) {
          if (!isStorable(key)) return false
          next.push(value[key])
        }
      }
    }
    level = next
  }
  return true
}
