/**
 * Amounts of money, exact: decimal text outside, a whole number of hundred-millionths inside, so that rules are plain
 * integer arithmetic (completions 1).
 */
import { Schema, SchemaTransformation } from "effect"

/** An amount in units of 10⁻⁸, 0 or more. */
export type Amount = bigint

/** An amount of 1. */
const one = 100_000_000n

/** The largest amount there is text for. */
export const amountMax: Amount = 10n ** 20n - 1n

const pattern = /^\d{1,12}(\.\d{1,8})?$/

const amountText = Schema.String.check(
  Schema.makeFilter((text: string) => pattern.test(text), {
    expected: "a decimal amount of at most 12 digits, and 8 after the point",
    representation: { id: "usher/amount", payload: null },
    toJsonSchema: () => ({ pattern: pattern.source })
  })
).annotate({ examples: ["49.9"] })

/** The amount that such text says. */
export const ofText = (text: string): Amount => {
  const point = text.indexOf(".")
  if (point < 0) return BigInt(text) * one
  return BigInt(text.slice(0, point) + text.slice(point + 1).padEnd(8, "0"))
}

/** The amount's one normal form: no zeros that say nothing, and no point without digits after it. */
export const toText = (amount: Amount): string => {
  const fraction = amount % one
  if (fraction === 0n) return `${amount / one}`
  return `${amount / one}.${`${fraction}`.padStart(8, "0").replace(/0+$/, "")}`
}

/** An amount as it travels and is stored: text outside, {@link Amount} inside. */
export const Amount = amountText.pipe(
  Schema.decodeTo(
    Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: amountMax })),
    SchemaTransformation.transform({ decode: ofText, encode: toText })
  )
)

/** An amount that is not 0. */
export const PositiveAmount = Amount.check(
  Schema.makeFilter((amount: Amount) => amount > 0n, {
    expected: "an amount above 0",
    representation: { id: "usher/amount", payload: null },
    toJsonSchema: () => ({})
  })
)

/** The amount with one in the last of so many digits after the point: 1 is 0.1, 2 is 0.01. */
export const smallestOf = (fractionDigits: number): Amount => 10n ** BigInt(8 - fractionDigits)
