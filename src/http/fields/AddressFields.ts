/** Addresses in the bodies of both APIs: an email, and a phone number with the country of its national form. */
import { Effect, Schema } from "effect"
import { type Address, isCountry, parseEmail, parsePhone } from "../../auth/codes/Addresses.ts"
import { text } from "../../domain/values/Text.ts"
import type { ValidationError } from "../errors/Errors.ts"
import { issueAt } from "../errors/Issues.ts"
import { invalidInput } from "../errors/Validation.ts"

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

/** An email, or a phone number. Null counts as absent. */
export interface SentAddress {
  readonly email?: string | null
  readonly phone?: string | null
  readonly defaultCountry?: string | null
}

/**
 * The email, else the phone number, in its normal form. Fails with a 400 for a phone number that is not valid in any
 * country.
 */
export function addressOf({ email, phone, defaultCountry }: SentAddress): Effect.Effect<Address, ValidationError> {
  const address = typeof email === "string" ? parseEmail(email) : parsePhone(phone ?? "", defaultCountry ?? undefined)
  if (address !== undefined) return Effect.succeed(address)
  const issue = { kind: "validation", type: "phone", expected: "a phone number" } as const
  return Effect.fail(invalidInput([issueAt({ phone, defaultCountry }, "phone", issue)]))
}
