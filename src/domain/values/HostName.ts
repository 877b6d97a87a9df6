/**
 * Internet host names in the one spelling in which they are compared: that of UTS 46 without transitional mappings, as
 * mail is delivered, with international labels in Unicode.
 */

/** The limits of RFC 1035, in the ASCII form. The last label is no number, so that no name is an IPv4 address. */
const asciiPattern = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/
const asciiLengthMax = 253

/** Characters of ASCII that are in no host name, and blanks. A URL parser reads some as other parts, and drops others. */
const foreign = /[^\P{ASCII}A-Za-z0-9.-]|[\s\p{Cc}]/u

export interface HostName {
  /** As people read it: `bücher.example`. */
  readonly unicode: string
  /** As it is looked up: `xn--bcher-kva.example`. */
  readonly ascii: string
}

/** Returns the host name, or undefined if the text is none with at least two labels. */
export const hostName = (text: string): HostName | undefined => {
  if (text.length > asciiLengthMax || foreign.test(text)) return undefined
  const ascii = URL.parse(`https://${text}`)?.hostname
  if (ascii === undefined || ascii.length > asciiLengthMax || !asciiPattern.test(ascii)) return undefined
  return { ascii, unicode: withUnicodeLabels(ascii) }
}

/** Returns the text with the labels `xn--…` in it as people read them. A part of a name suffices. */
export const withUnicodeLabels = (text: string): string =>
  text.replaceAll(/(?<![a-z0-9-])xn--([a-z0-9-]{1,59})(?![a-z0-9-])/gi, (label, encoded: string) => {
    const decoded = punycodeDecoded(encoded.toLowerCase())
    // What does not encode to the same label is no name.
    return decoded !== undefined && URL.parse(`https://${decoded}`)?.hostname === label.toLowerCase() ? decoded : label
  })

/** The parameters of Punycode (RFC 3492). */
const base = 36
const tMin = 1
const tMax = 26
const skew = 38
const damp = 700

/** Returns the text of a label after `xn--` (the decoding procedure of RFC 3492); undefined if it is none. */
function punycodeDecoded(encoded: string): string | undefined {
  const basicEnd = Math.max(0, encoded.lastIndexOf("-"))
  const output = Array.from(encoded.slice(0, basicEnd), (character) => character.codePointAt(0)!)
  let position = 128
  let index = 0
  let bias = 72
  for (let read = basicEnd > 0 ? basicEnd + 1 : 0; read < encoded.length;) {
    const before = index
    for (let weight = 1, k = base; ; k += base) {
      const digit = Number.parseInt(encoded[read++] ?? "-", base)
      // Digits 0 to 25 are letters, and 26 to 35 are 0 to 9.
      const value = digit >= 10 ? digit - 10 : digit + 26
      const threshold = Math.min(tMax, Math.max(tMin, k - bias))
      index += value * weight
      if (Number.isNaN(index) || index > Number.MAX_SAFE_INTEGER) return undefined
      if (value < threshold) break
      weight *= base - threshold
    }
    const count = output.length + 1
    bias = adapted(index - before, count, before === 0)
    position += Math.floor(index / count)
    if (position > 0x10ffff) return undefined
    index %= count
    output.splice(index++, 0, position)
  }
  return String.fromCodePoint(...output)
}

function adapted(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? damp : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > ((base - tMin) * tMax) / 2; k += base) rest = Math.floor(rest / (base - tMin))
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew))
}
