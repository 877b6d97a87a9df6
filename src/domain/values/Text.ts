/**
 * Free text and free JSON as they come from outside: whatever passes here can be stored and is given back unchanged.
 */
import { Predicate, Schema } from "effect"

/** How deep free JSON may be nested: far more than any honest document, far less than what exhausts a stack. */
export const jsonDepthMax = 32

/** True if the database can keep the text: no NUL, no half of a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed()

/** Text the database can keep, of at most `maxLength` UTF-16 units. */
export const text = (options: { readonly minLength?: number; readonly maxLength: number }) => {
  const storable = Schema.String.check(
    Schema.makeFilter(isStorable, {
      expected: "text without NUL and without lone surrogates",
      representation: { id: "usher/string", payload: null },
      toJsonSchema: () => ({})
    })
  )
  const bounded = storable.check(Schema.isMaxLength(options.maxLength))
  return options.minLength === undefined ? bounded : bounded.check(Schema.isMinLength(options.minLength))
}

/** A record's name. */
export const Name = text({ minLength: 1, maxLength: 200 })

/**
 * A value as it was read from JSON, whatever it is. It is not walked through: what comes in may be nested so deep that a walk
 * holds up everybody, and is first to be looked at by a check that stops where it is too deep.
 */
export const AnyJson = Schema.declare((value: unknown): value is unknown => value !== undefined, {
  expected: "JSON",
  representation: { id: "usher/AnyJson", payload: null },
  toCodecJson: () => undefined
})

/** Free JSON that the database can keep, nested at most so deep. */
export const storableJson = (depthMax: number) =>
  Schema.makeFilter((value: { readonly [key: string]: unknown }) => isStorableJson(value, depthMax), {
    expected: `JSON nested at most ${depthMax} deep, its text without NUL and lone surrogates, its numbers finite`,
    representation: { id: "usher/json", payload: null },
    toJsonSchema: () => ({})
  })

/** A JSON object of the caller's own making, kept as sent (interface document: "object"). */
export const JsonObject = Schema.Record(Schema.String, AnyJson).check(
  // Whatever looks at the value after this may rely on its depth.
  storableJson(jsonDepthMax).abort()
)

/** Looks level by level, so that no nesting can exhaust the stack. */
function isStorableJson(root: unknown, depthMax: number): boolean {
  let level: Array<unknown> = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return false
    const next: Array<unknown> = []
    for (const value of level) {
      if (typeof value === "string" && !isStorable(value)) return false
      // `1e999` is read as a number that JSON cannot write.
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
