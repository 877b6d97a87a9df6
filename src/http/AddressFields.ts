/**
 * Addresses as they are sent, on both APIs: an email, and a phone number with the country whose national form it may have.
 */
import { Schema } from "effect"
import { isCountry, parseEmail } from "../auth/Addresses.ts"
import { text } from "../domain/Text.ts"

/** An email address, in any notation of upper and lower case. */
export const EmailText = text({ maxLength: 320 }).check(
  Schema.makeFilter((value: string) => parseEmail(value) !== undefined, {
    expected: "an email address",
    representation: { id: "usher/email", payload: null },
    toJsonSchema: () => ({ format: "email" })
  })
)

/** A phone number. Whether a country has it is only known with both fields: the handler checks it. */
export const PhoneText = text({ minLength: 1, maxLength: 64 }).annotate({
  description: "In international form, or in the national form of `defaultCountry`.",
  examples: ["+4915112345678"]
})

/** A country by its two letters. */
export const Country = Schema.String.check(
  Schema.makeFilter(isCountry, {
    expected: "a two-letter country code",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({ pattern: "^[A-Za-z]{2}$" })
  })
).annotate({ examples: ["DE"] })
