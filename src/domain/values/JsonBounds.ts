/**
 * Bounds of a JSON text, checked before it is parsed. The check reads each character once and builds nothing, so it
 * costs a small part of parsing. It does not check the syntax: the parser does that.
 */

/** The bounds of a body. */
export interface JsonBounds {
  readonly bytesMax: number
  /** Levels of objects and arrays. */
  readonly depthMax: number
  /** Fields of objects and items of arrays, of all levels together. */
  readonly valuesMax: number
}

/** The bounds of operations of the public key. */
export const publicBounds: JsonBounds = { bytesMax: 16_384, depthMax: 32, valuesMax: 1_000 }

/** The bounds of operations of the secret key. They fit the largest creative document. */
export const secretBounds: JsonBounds = { bytesMax: 1_048_576, depthMax: 256, valuesMax: 200_000 }

/** The bound that a text exceeds. */
export type Exceeded = "depth" | "values"

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c

/** The bound that the text exceeds first; undefined if it keeps to all. */
export function exceededBy(text: string, { depthMax, valuesMax }: JsonBounds): Exceeded | undefined {
  // A text has fewer values than characters, and every level takes two characters.
  if (text.length <= valuesMax && text.length <= 2 * depthMax) return undefined
  let depth = 0
  let values = 0
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index)
        break
      case comma:
        if (++values > valuesMax) return "values"
        break
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > depthMax) return "depth"
        if (++values > valuesMax) return "values"
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
    }
  }
  return undefined
}

/** The index of the quote that ends the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** True if an odd number of backslashes precedes the index. */
function isEscaped(text: string, index: number): boolean {
  let first = index
  while (text.charCodeAt(first - 1) === backslash) first--
  return (index - first) % 2 === 1
}
