/** Addresses in the bodies of both APIs: a phone number with the country of its national form. */
import { Schema } from "effect"
import { isCountry } from "../domain/consumer/Address.ts"
import { text } from "../domain/values/Text.ts"

/** A phone number. The handler checks it, because that needs the country as well. */
export const PhoneText = text({ minLength: 1, maxLength: 64 }).annotate({
  description:
    "In international form, or in the national form of `defaultCountry`. The digits and separators of every script count. " +
    "Letters, extensions, two numbers, and a number that can be read as two are a 400.",
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
