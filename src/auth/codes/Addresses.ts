/**
 * The two kinds of address a one-time code goes to, in the one form in which they are kept and compared: an email in lower
 * case, a phone number in E.164 (completions 2).
 */
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max"

export interface Address {
  readonly channel: "email" | "phone"
  /** Normalized. */
  readonly value: string
}

/** RFC 5321 allows no longer one. */
const emailLengthMax = 254

/** Longer text is no phone number in any notation. */
const phoneLengthMax = 64

/**
 * A local part of dot-separated words, and a host name with at least one dot. Quoted local parts and address literals,
 * which RFC 5321 allows and nobody has, are refused; so is whatever could end a header or begin a second address.
 */
const emailPattern =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])$/u

/** The email address in lower case; undefined if the text is none. */
export function parseEmail(text: string): Address | undefined {
  const value = text.trim().normalize("NFC").toLowerCase()
  const isEmail = value.length <= emailLengthMax && value.lastIndexOf("@") <= 64 && emailPattern.test(value)
  return isEmail ? { channel: "email", value } : undefined
}

/** True if the two letters name a country that has phone numbers. */
export const isCountry = (text: string): boolean => isSupportedCountry(text.toUpperCase())

/**
 * The phone number in E.164; undefined if no country has it, or if it costs the owner's callers a premium, as only those
 * who want to be sent expensive messages give such numbers. `defaultCountry`: for a number in its national form.
 */
export function parsePhone(text: string, defaultCountry?: string): Address | undefined {
  if (text.length > phoneLengthMax) return undefined
  const country = defaultCountry?.toUpperCase()
  const number = parsePhoneNumberFromString(text.trim(), {
    ...(country !== undefined && isSupportedCountry(country) && { defaultCountry: country }),
    extract: false
  })
  if (number === undefined || !number.isValid() || number.ext !== undefined) return undefined
  return number.getType() === "PREMIUM_RATE" ? undefined : { channel: "phone", value: number.number }
}
