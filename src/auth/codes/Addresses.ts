/**
 * The two kinds of address a one-time code is sent to, in the normalized form in which they are stored and compared: an
 * email address in lower case, a phone number in E.164 (completions 2).
 */
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max"

export interface Address {
  readonly channel: "email" | "phone"
  /** In normalized form. */
  readonly value: string
}

/** The limit of RFC 5321. */
const emailLengthMax = 254

/** No notation of a phone number is longer. */
const phoneLengthMax = 64

/**
 * Matches a local part of dot-separated words and a host name with at least one dot. It rejects quoted local parts and
 * address literals, which RFC 5321 allows but mail providers do not issue. It also rejects every character that could
 * end a header or begin a second address.
 */
const emailPattern =
  /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])$/u

/** Returns the email address in lower case, or undefined if the text is not an email address. */
export function parseEmail(text: string): Address | undefined {
  const value = text.trim().normalize("NFC").toLowerCase()
  const isEmail = value.length <= emailLengthMax && value.lastIndexOf("@") <= 64 && emailPattern.test(value)
  return isEmail ? { channel: "email", value } : undefined
}

/** True if the two letters are a country code with a phone numbering plan. */
export const isCountry = (text: string): boolean => isSupportedCountry(text.toUpperCase())

/**
 * Returns the phone number in E.164, or undefined if no country uses it. Premium-rate numbers are rejected: an attacker
 * could register one to earn from the messages. `defaultCountry` applies to a number in national form.
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

/** The country of a phone number in E.164; undefined for numbers of no country. */
export const countryOf = (phone: string): string | undefined => parsePhoneNumberFromString(phone)?.country
