/**
 * What a consumer's orders add up to, for each currency by itself: amounts of two currencies are never added up.
 */
import { digitsOf, ofText, toText } from "../values/Amount.ts"

/** A sum for each currency in which something was ordered. */
export type OrderTotals = { readonly [currencyCode: string]: string }

/** What one order is worth. */
export interface Worth {
  readonly currencyCode: string
  readonly total: string
}

/** The totals with the order as it is in place of the order as it was; null: it does not count. */
export const recounted = (totals: OrderTotals, was: Worth | null, is: Worth | null): OrderTotals =>
  added(added(totals, was, -1n), is, 1n)

const added = (totals: OrderTotals, worth: Worth | null, sign: 1n | -1n): OrderTotals => {
  if (worth === null) return totals
  const { currencyCode, total } = worth
  const { [currencyCode]: before = "0", ...others } = totals
  const sum = ofText(before) + sign * ofText(total)
  // A currency without a value is left out.
  return sum === 0n ? others : { ...others, [currencyCode]: toText(sum, Math.max(digitsOf(before), digitsOf(total))) }
}
