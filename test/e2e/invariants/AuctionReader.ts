/**
 * Checks an auction's recorded events: every bid beats the required amount, the highest bids win, and there are never
 * more winners than units.
 */
import type { Recorded } from "./Reader.ts"
import { instant, StepsReader } from "./StepsReader.ts"

interface Rules {
  readonly auctionType: "english" | "dutch"
  readonly quantity: number
  readonly closeAt: unknown
  readonly settleAt: unknown
  readonly startPrice: string
  readonly reservePrice?: string
  readonly minBidIncrement?: string
  readonly admissionExpirationSeconds?: number
}

/** A consumer's last bid. Tests use whole amounts. */
interface Bid {
  readonly amount: number
  readonly sequence: number
}

const pending = ["BIDDING", "WINNING", "OUTBID"]

export class AuctionReader extends StepsReader<Rules> {
  protected readonly steps = {
    Entered: { from: ["absent"], to: "BIDDING", enters: true },
    BidPlaced: { from: pending, to: "WINNING" },
    Outbid: { from: ["WINNING"], to: "OUTBID" },
    Reinstated: { from: ["OUTBID"], to: "WINNING" },
    Won: { from: ["WINNING"], to: "WON", grants: true },
    Lost: { from: pending, to: "LOST" },
    Expired: { from: ["WON"], to: "DENIED" },
    Denied: { from: [...pending, "WON"], to: "DENIED" },
    Completed: { from: ["WON"], to: "COMPLETED" }
  }
  /** The closing time after extensions by late bids. */
  private closeAt: number | undefined
  private readonly bids = new Map<string, Bid>()
  /** The consumers that have to win after the closing, the best bid first. */
  private winners: Array<string> | undefined

  protected override applySpecial(event: Recorded): boolean {
    if (event.type !== "Extended") return false
    const closeAt = instant(event.data["closeAt"])
    if (closeAt <= this.closesAt) this.note(event, "moves the closing back")
    this.closeAt = closeAt
    return true
  }

  protected override stepped(event: Recorded, since: number | undefined): void {
    switch (event.type) {
      case "Entered":
        if (event.at >= this.closesAt) this.note(event, "comes after its time")
        return
      case "BidPlaced":
        return this.bid(event)
      case "Won":
        return this.win(event)
      case "Expired":
        return this.checkExpiry(event, since, this.rules.admissionExpirationSeconds)
      case "Completed":
        return this.checkInTime(event, since, this.rules.admissionExpirationSeconds)
    }
  }

  private get closesAt(): number {
    return this.closeAt ?? instant(this.rules.closeAt)
  }

  private bid(event: Recorded): void {
    const amount = Number(event.data["amount"])
    if (event.at >= this.closesAt || this.closedAt !== Infinity) this.note(event, "comes after the closing")
    if (this.rules.auctionType === "english") {
      const others = this.best.filter((consumerId) => consumerId !== event.consumerId)
      const lowest = this.bids.get(others[this.rules.quantity - 1] ?? "")?.amount
      if (amount < Number(this.rules.startPrice)) this.note(event, "is below the start price")
      if (amount <= (this.bids.get(event.consumerId!)?.amount ?? 0)) this.note(event, "does not exceed the own bid")
      if (lowest !== undefined && amount <= lowest) this.note(event, `does not beat ${lowest}`)
    }
    this.bids.set(event.consumerId!, { amount, sequence: event.sequence })
  }

  private win(event: Recorded): void {
    const { auctionType, quantity, settleAt, reservePrice = "0" } = this.rules
    if (this.grants > quantity) this.note(event, `is unit ${this.grants} of ${quantity}`)
    if (auctionType === "dutch") return
    if (this.closedAt === Infinity) this.note(event, "comes before the closing")
    if (event.at < Math.max(instant(settleAt), this.closesAt)) this.note(event, "comes before its time")
    if (Number(this.bids.get(event.consumerId!)?.amount) < Number(reservePrice))
      this.note(event, "is below the reserve")
    this.winners ??= this.best.slice(0, quantity)
    if (this.winners[this.grants - 1] !== event.consumerId) this.note(event, "is not the next best bid")
  }

  /** The consumers that have bid and were not denied, the best bid first. All winners are among them. */
  private get best(): Array<string> {
    return [...this.bids]
      .filter(([consumerId]) => this.states.get(consumerId)?.status !== "DENIED")
      .toSorted(([, a], [, b]) => b.amount - a.amount || a.sequence - b.sequence)
      .map(([consumerId]) => consumerId)
  }
}
