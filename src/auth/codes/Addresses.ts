/**
 * The two kinds of address a one-time code is sent to, in the normalized form in which they are stored and compared: an
 * email address in lower case, a phone number in E.164 (completions 2).
 */
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max"
import { normalizedEmail } from "../../domain/values/Email.ts"

export interface Address {
  readonly channel: "email" | "phone"
  /** In normalized form. */
  readonly value: string
}

/** Where a code goes. `operator` is the email address of a person of the dashboard. */
export interface CodeAddress {
  readonly channel: Address["channel"] | "operator"
  readonly value: string
}

/** No notation of a phone number is longer. */
const phoneLengthMax = 64

/** Returns the email address in lower case, or undefined if the text is not an email address. */
export function parseEmail(text: string): Address | undefined {
  const value = normalizedEmail(text)
  return value === undefined ? undefined : { channel: "email", value }
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
