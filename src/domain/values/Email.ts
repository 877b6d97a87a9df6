/**
 * Email addresses, in requests and in the one spelling in which they are stored, shown and compared: the local part in
 * lower case, NFC and normal width, and the host in Unicode.
 */
import { Schema } from "effect"
import { hostName } from "./HostName.ts"
import { text, trimmed } from "./Text.ts"

/** The longest text that is read as an address. */
const typedLengthMax = 320

/** The limits of RFC 5321, with the host in its ASCII form. */
const emailLengthMax = 254
const localLengthMax = 64

/**
 * Matches a word of a local part. Marks combine with the letter before them. A joiner follows a mark, or a letter of the
 * Arabic script. Quoted local parts are rejected, which RFC 5321 allows but mail providers do not issue, and so is every
 * character that could end a header or begin a second address.
 */
const wordPattern = /^(?:[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-](?:\p{M}|(?<=[\p{M}\p{Script=Arabic}])[\u200c\u200d])*)+$/u

/** Wide, narrow and mathematical letters. They are spellings of plain letters. */
const styledLetters = /[\uff00-\uffef\u{1d400}-\u{1d7ff}]+/gu

/** Returns the email address in its one spelling, or undefined if the text is not an email address. */
export const normalizedEmail = (text: string): string | undefined => {
  if (text.length > typedLengthMax) return undefined
  const value = trimmed(text).replaceAll(styledLetters, (letters) => letters.normalize("NFKC"))
  const at = value.lastIndexOf("@")
  const local = value.slice(0, Math.max(0, at)).toLowerCase().normalize("NFC")
  if (local.length > localLengthMax || !local.split(".").every((word) => wordPattern.test(word))) return undefined
  const host = hostName(value.slice(at + 1))
  if (host === undefined || local.length + 1 + host.ascii.length > emailLengthMax) return undefined
  return `${local}@${host.unicode}`
}

/** An email address in any spelling. */
export const EmailText = text({ maxLength: typedLengthMax })
  .check(
    Schema.makeFilter((value: string) => normalizedEmail(value) !== undefined, {
      expected: "an email address",
      representation: { id: "usher/email", payload: null },
      toJsonSchema: () => ({ format: "email" })
    })
  )
  .annotate({
    description:
      "In any spelling. It is returned in one: in lower case and NFC, with its host in Unicode (`bücher.example`, not `xn--…`)."
  })
