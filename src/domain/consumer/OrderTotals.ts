/** A consumer's order totals, one per currency. Amounts of different currencies are never added. */
import { digitsOf, ofText, toText } from "../values/Amount.ts"

/** A sum for each currency with orders. */
export type OrderTotals = { readonly [currencyCode: string]: string }

/** The currency and total of one order. */
export interface Worth {
  readonly currencyCode: string
  readonly total: string
}

/** Returns the totals after an order changed from `was` to `is`. Null means that the order does not count. */
export const recounted = (totals: OrderTotals, was: Worth | null, is: Worth | null): OrderTotals =>
  added(added(totals, was, -1n), is, 1n)

const added = (totals: OrderTotals, worth: Worth | null, sign: 1n | -1n): OrderTotals => {
  if (worth === null) return totals
  const { currencyCode, total } = worth
  const { [currencyCode]: before = "0", ...others } = totals
  const sum = ofText(before) + sign * ofText(total)
  // A currency with a sum of zero is omitted.
  return sum === 0n ? others : { ...others, [currencyCode]: toText(sum, Math.max(digitsOf(before), digitsOf(total))) }
}
