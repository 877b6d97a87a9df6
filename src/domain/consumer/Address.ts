/**
 * The two kinds of address a one-time code is sent to, in the normalized form in which they are stored and compared: an
 * email address in its one spelling, a phone number in E.164.
 */
import {
  type CountryCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type PhoneNumber
} from "libphonenumber-js/max"
import { normalizedEmail } from "../values/Email.ts"
import { typedNumber } from "../values/TypedNumber.ts"

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

/** Returns the email address in its one spelling, or undefined if the text is not an email address. */
export function parseEmail(text: string): Address | undefined {
  const value = normalizedEmail(text)
  return value === undefined ? undefined : { channel: "email", value }
}

/** True if the two letters are a country code with a phone numbering plan. */
export const isCountry = (text: string): boolean => isSupportedCountry(text.toUpperCase())

/**
 * Returns the phone number in E.164, or undefined if no country uses it, or if it can be read as two numbers. A number
 * with a plus sign is international whatever the country, and so is one that begins with 00. `defaultCountry` applies to
 * the others. Premium-rate numbers are rejected: an attacker could register one to earn from the messages.
 */
export function parsePhone(text: string, defaultCountry?: string): Address | undefined {
  const typed = typedNumber(text)
  if (typed === undefined) return undefined
  const country = defaultCountry?.toUpperCase()
  const readings = [typed.digits, typed.withoutTrunkZero].flatMap((digits) => {
    if (digits === undefined) return []
    if (typed.isInternational) return [validNumber(`+${digits}`)]
    const national = country !== undefined && isSupportedCountry(country) ? validNumber(digits, country) : undefined
    // Some countries dial more than 00, or something else.
    return [national, digits.startsWith("00") ? validNumber(`+${digits.slice(2)}`) : undefined]
  })
  const [number, ...others] = new Map(
    readings.flatMap((found) => (found === undefined ? [] : [[found.number, found]]))
  ).values()
  if (number === undefined || others.length > 0) return undefined
  return number.getType() === "PREMIUM_RATE" ? undefined : { channel: "phone", value: number.number }
}

const validNumber = (text: string, defaultCountry?: CountryCode): PhoneNumber | undefined => {
  const number = parsePhoneNumberFromString(text, { ...(defaultCountry && { defaultCountry }), extract: false })
  return number?.isValid() === true ? number : undefined
}

/** The country of a phone number in E.164; undefined for numbers of no country. */
export const countryOf = (phone: string): string | undefined => parsePhoneNumberFromString(phone)?.country
