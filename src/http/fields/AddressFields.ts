/** The address in a body of both APIs: an email, or a phone number with the country of its national form. */
import { Effect } from "effect"
import { type Address, parseEmail, parsePhone } from "../../domain/consumer/Address.ts"
import type { ValidationError } from "../../api/Errors.ts"
import { issueAt } from "../errors/Issues.ts"
import { invalidInput } from "../errors/Validation.ts"

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
