/**
 * Exact amounts of money: decimal text outside, a whole number of hundred-millionths inside, so that rules are integer
 * arithmetic. A price is shown as it was written, so it stays text inside too.
 */
import { Schema, SchemaTransformation } from "effect"

/** An amount in units of 10⁻⁸, 0 or more. */
export type Amount = bigint

/** An amount of 1. */
const one = 100_000_000n

/** The largest amount that can be written as text. */
export const amountMax: Amount = 10n ** 20n - 1n

const pattern = /^\d{1,12}(\.\d{1,8})?$/

const amountText = Schema.String.check(
  Schema.makeFilter((text: string) => pattern.test(text), {
    expected: "a decimal amount of at most 12 digits, and 8 after the point",
    representation: { id: "usher/amount", payload: null },
    toJsonSchema: () => ({ pattern: pattern.source }),
    arbitraryConstraint: { patterns: [{ source: pattern.source, flags: "" }] }
  })
).annotate({ examples: ["49.90"] })

/** A price, stored as it was written. {@link ofText} returns its amount. */
export const Price = amountText
export type Price = string

/** Parses the text. */
export const ofText = (text: string): Amount => {
  const point = text.indexOf(".")
  if (point < 0) return BigInt(text) * one
  return BigInt(text.slice(0, point) + text.slice(point + 1).padEnd(8, "0"))
}

/** Formats the amount with at least `digits` digits after the point, at most 8. By default without trailing zeros. */
export const toText = (amount: Amount, digits = 0): string => {
  const fraction = `${amount % one}`
    .padStart(8, "0")
    .replace(/(?<!0)0+$/, "")
    .padEnd(digits, "0")
  return fraction === "" ? `${amount / one}` : `${amount / one}.${fraction}`
}

/** Returns the number of digits after the point. */
export const digitsOf = (price: Price): number => {
  const point = price.indexOf(".")
  return point < 0 ? 0 : price.length - point - 1
}

/** An amount in requests, responses and events: text outside, {@link Amount} inside. */
export const Amount = amountText.pipe(
  Schema.decodeTo(
    Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: amountMax })),
    SchemaTransformation.transform({ decode: ofText, encode: toText })
  )
)

/** A price above 0. Invalid text passes here, because the check before reports it. */
export const PositivePrice = Price.check(
  Schema.makeFilter((price: Price) => !pattern.test(price) || ofText(price) > 0n, {
    expected: "an amount above 0",
    representation: { id: "usher/amount", payload: null },
    toJsonSchema: () => ({})
  })
)

/** Returns the sum of two prices, with the digits after the point of the more precise one. */
export const plus = (a: Price, b: Price): Price => toText(ofText(a) + ofText(b), Math.max(digitsOf(a), digitsOf(b)))

/** True if the first price is less than the second, however they are written. */
export const isBelow = (a: Price, b: Price): boolean => ofText(a) < ofText(b)

/** True if the price needs no more than that many digits after the point, however it is written. */
export const isWhole = (price: Price, fractionDigits: number): boolean =>
  digitsOf(price) <= fractionDigits || ofText(price) % smallestOf(fractionDigits) === 0n

/** Returns the least price with that many digits after the point that is not below this one. */
export const wholeFrom = (price: Price, fractionDigits: number): Price => {
  if (isWhole(price, fractionDigits)) return price
  const unit = smallestOf(fractionDigits)
  return toText((ofText(price) / unit + 1n) * unit, fractionDigits)
}

/** Returns the greatest price with that many digits after the point that is not above this one. */
export const wholeUpTo = (price: Price, fractionDigits: number): Price => {
  if (isWhole(price, fractionDigits)) return price
  const unit = smallestOf(fractionDigits)
  return toText((ofText(price) / unit) * unit, fractionDigits)
}

/** Returns the smallest amount with that many digits after the point: 1 gives 0.1, 2 gives 0.01. */
export const smallestOf = (fractionDigits: number): Amount => 10n ** BigInt(8 - fractionDigits)
