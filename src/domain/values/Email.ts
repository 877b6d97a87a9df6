/** Email addresses, in requests and in the form in which they are stored and compared. */
import { Schema } from "effect"
import { text } from "./Text.ts"

/** The limit of RFC 5321. */
const emailLengthMax = 254

/**
 * Matches a local part of dot-separated words and a host name with at least one dot. It rejects quoted local parts and
 * address literals, which RFC 5321 allows but mail providers do not issue. It also rejects every character that could
 * end a header or begin a second address.
 */
const emailPattern =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])$/u

/** Returns the email address in lower case, or undefined if the text is not an email address. */
export const normalizedEmail = (text: string): string | undefined => {
  const value = text.trim().normalize("NFC").toLowerCase()
  const isEmail = value.length <= emailLengthMax && value.lastIndexOf("@") <= 64 && emailPattern.test(value)
  return isEmail ? value : undefined
}

/** An email address, in upper or lower case. */
export const EmailText = text({ maxLength: 320 }).check(
  Schema.makeFilter((value: string) => normalizedEmail(value) !== undefined, {
    expected: "an email address",
    representation: { id: "usher/email", payload: null },
    toJsonSchema: () => ({ format: "email" })
  })
)
