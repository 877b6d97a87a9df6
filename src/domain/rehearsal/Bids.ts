/**
 * What the people of a rehearsal bid in an auction. Amounts are whole units of its currency, which every currency accepts.
 * Each person has a limit: so many times the start price of an English auction, and so much less than that of a Dutch one,
 * whose start price is above what people pay.
 */
import type { Millis } from "../values/Time.ts"
import type { CheckedSettings } from "./CheckedDrop.ts"

type Terms = Pick<
  CheckedSettings,
  | "auctionType"
  | "quantity"
  | "startPrice"
  | "floorPrice"
  | "minBidIncrement"
  | "maxBid"
  | "priceDropAmount"
  | "priceDropIntervalSeconds"
>

/** The bids of one auction, as far as the crowd has placed them. */
export class Bids {
  /** The leaders, highest first, with no more of them than units. */
  private leaders: ReadonlyArray<{ readonly person: number; readonly amount: number }> = []
  private readonly terms: Terms
  private readonly openAt: Millis
  private readonly raise: number

  /** `raise` is the share by which a bid is above the one that it beats. */
  constructor(terms: Terms, openAt: Millis, raise: number) {
    this.terms = terms
    this.openAt = openAt
    this.raise = raise
  }

  /**
   * Returns the body of a person's bid; undefined if it leads already or the price is above its limit. `worth` is the limit
   * in start prices of an English auction.
   */
  next(person: number, worth: number, now: Millis): { readonly amount?: string } | undefined {
    const startPrice = number(this.terms.startPrice, 1)
    if (this.terms.auctionType === "dutch") {
      return fallenPrice(this.terms, now - this.openAt) <= startPrice / worth ? {} : undefined
    }
    if (this.leaders.some((leader) => leader.person === person)) return undefined
    const { quantity = 1 } = this.terms
    const beaten = this.leaders.length < quantity ? undefined : this.leaders.at(-1)!.amount
    const increment = Math.max(1, number(this.terms.minBidIncrement, 1))
    const amount = Math.ceil(
      beaten === undefined ? Math.max(1, startPrice) : beaten + Math.max(increment, Math.ceil(beaten * this.raise))
    )
    const limit = Math.min(Math.ceil(Math.max(1, startPrice) * worth), number(this.terms.maxBid, Infinity))
    return amount > limit ? undefined : { amount: `${amount}` }
  }

  /** Notes a bid that was accepted. */
  placed(person: number, { amount }: { readonly amount?: string }): void {
    if (amount === undefined) return
    const { quantity = 1 } = this.terms
    const others = this.leaders.filter((leader) => leader.person !== person)
    this.leaders = [...others, { person, amount: Number(amount) }]
      .toSorted((a, b) => b.amount - a.amount)
      .slice(0, quantity)
  }
}

/** Returns the price of a Dutch auction so many milliseconds after its opening. */
export const fallenPrice = (terms: Terms, sinceOpening: Millis): number => {
  const { startPrice, floorPrice, priceDropAmount, priceDropIntervalSeconds = Infinity } = terms
  const start = number(startPrice, 1)
  const drops = Math.max(0, Math.floor(sinceOpening / (priceDropIntervalSeconds * 1_000)))
  return Math.max(number(floorPrice, start), start - drops * number(priceDropAmount, 0))
}

const number = (amount: string | undefined, otherwise: number): number =>
  amount === undefined ? otherwise : Number(amount)
