/**
 * The reference of the auction, as plain as possible: lists of bids, and every answer computed by iterating over all of
 * them and sorting. It shares only the types with the auction.
 */
import type { Command, Configuration, Facts, View } from "../../../src/domain/auction/Auction.ts"
import type { ExperienceWindow } from "../../../src/domain/experience/ExperienceWindow.ts"

type PriceSetting =
  | "startPrice"
  | "reservePrice"
  | "minBidIncrement"
  | "maxBid"
  | "maxBidJump"
  | "floorPrice"
  | "priceDropAmount"

/** A configuration whose prices are numbers: hundred-millionths. */
export type Terms = { readonly [K in keyof Configuration]: K extends PriceSetting ? bigint : Configuration[K] }

/** Returns a price in hundred-millionths, converted digit by digit. */
export const unitsOf = (price: string): bigint => {
  const [whole = "", fraction = ""] = price.split(".")
  return BigInt(whole + fraction.padEnd(8, "0"))
}

const termsOf = (configuration: Configuration): Terms =>
  Object.fromEntries(
    Object.entries(configuration).map(([name, value]) => [
      name,
      /(Price|Increment|DropAmount|maxBid|maxBidJump)$/.test(name) ? unitsOf(value as string) : value
    ])
  ) as unknown as Terms

/** A refusal's name with its fields. */
export interface Refused {
  readonly refused: string
  readonly [name: string]: unknown
}

interface Offer {
  readonly consumerId: string
  readonly amount: bigint
  readonly placedAt: number
}

interface Bidder {
  readonly enteredAt: number
  status: "PENDING" | "WON" | "LOST" | "COMPLETED" | "DENIED"
  since: number
  reason: string
}

/** The currency of the histories has two digits. */
const minorUnit = 1_000_000n

const largest = 10n ** 20n - 1n

const up = (amount: bigint): bigint => ((amount + minorUnit - 1n) / minorUnit) * minorUnit

const down = (amount: bigint): bigint => (amount / minorUnit) * minorUnit

export class Reference {
  readonly configuration: Terms
  readonly #createdAt: number
  readonly #bidders = new Map<string, Bidder>()
  readonly #offers: Array<Offer> = []
  readonly #won: Array<Offer> = []
  #window: ExperienceWindow | undefined
  /** The closing to which the last bid moved it. */
  #extendedTo = -Infinity
  /** When a change of the window opened the auction. */
  #releasedAt = -Infinity
  /** When the window was last set: it closes nothing before. */
  #toldAt = -Infinity
  #closedAt = Infinity
  #isEnded = false
  #isSettled = false

  constructor(configuration: Configuration, createdAt: number) {
    this.configuration = termsOf(configuration)
    this.#createdAt = createdAt
  }

  /** Applies the transitions due until `now`. */
  notice(now: number): void {
    if (this.#closedAt === Infinity && this.closeAt <= now) this.#closedAt = Math.max(this.closeAt, this.#toldAt)
    if (!this.#isSettled && this.#settlesAt <= now) this.#settle(this.#settlesAt)
    const { admissionExpirationSeconds = Infinity } = this.configuration
    for (const bidder of this.#bidders.values()) {
      const expiresAt = bidder.since + admissionExpirationSeconds * 1000
      if (bidder.status === "WON" && expiresAt <= now) become(bidder, "DENIED", expiresAt, "ADMISSION_EXPIRED")
    }
  }

  /** Runs a command. Returns the refusal, or undefined if the command was accepted. */
  command(command: Command, now: number): Refused | undefined {
    this.notice(now)
    switch (command._tag) {
      case "Enter":
        return this.#bidders.has(command.consumerId)
          ? undefined
          : (this.#shut(now) ?? this.#enter(command.consumerId, now))
      case "Bid":
        return (this.configuration.auctionType === "dutch" ? this.#bidDutch : this.#bidEnglish).call(
          this,
          command.consumerId,
          command.amount === undefined ? undefined : unitsOf(command.amount),
          now,
          command.isConfirmed ?? false
        )
      case "Deny":
        return this.#finish(command.consumerId, "DENIED", ["BIDDING", "WINNING", "OUTBID", "WON"], now, command.reason)
      case "Complete":
        return this.#finish(command.consumerId, "COMPLETED", ["WON"], now)
      case "Remove":
        this.#finish(command.consumerId, "DENIED", ["BIDDING", "WINNING", "OUTBID", "WON"], now, "ADMIN_ACTION")
        return undefined
      case "End":
        if (this.#closedAt === Infinity) {
          this.#isEnded = true
          this.#closedAt = now
          this.notice(now)
        }
        return undefined
      case "SetExperienceWindow":
        this.#move(command.window, now)
        this.notice(now)
        return undefined
      case "SettleUnits":
      case "CloseNow":
      case "Archive":
      case "Extend":
      case "Configure":
        throw new Error("not known here")
    }
  }

  /** Returns the consumer's view, without its handle and its grant's sequence. */
  view(consumerId: string): unknown {
    const bidder = this.#bidders.get(consumerId)
    if (bidder === undefined) return { status: "NOT_BID", bidCount: 0 }
    const own = this.#offers.filter((offer) => offer.consumerId === consumerId)
    const lastBidAmount = own.at(-1)?.amount
    const winningBidAmount = lastBidAmount
    const { admissionExpirationSeconds } = this.configuration
    const { since, reason } = bidder
    const fields = {
      PENDING: {},
      WON: {
        winningBidAmount,
        wonAt: since,
        ...(admissionExpirationSeconds !== undefined && { expiresAt: since + admissionExpirationSeconds * 1000 })
      },
      LOST: { lostAt: since },
      COMPLETED: { winningBidAmount, completedAt: since },
      DENIED: { reason, deniedAt: since }
    }
    return {
      status: this.#statusOf(consumerId),
      enteredAt: bidder.enteredAt,
      bidCount: own.length,
      ...(lastBidAmount !== undefined && { lastBidAmount }),
      ...fields[bidder.status]
    }
  }

  /** Returns the public facts, with consumers in place of handles. */
  facts(now: number): { readonly [K in keyof Facts]?: unknown } {
    const { quantity, auctionType, startPrice } = this.configuration
    const leadingBids = [...this.#won, ...this.#leading()]
    const english = leadingBids.length >= quantity ? leadingBids.at(-1)!.amount : up(startPrice)
    const auctionEnded = this.#closedAt <= now
    return {
      currentPrice: auctionType === "dutch" ? this.#price(now) : english,
      ...(auctionType === "dutch" || auctionEnded ? {} : { minimumBid: this.minimum("nobody", now) }),
      remainingQuantity: quantity - this.#won.length,
      auctionEnded,
      leadingBids,
      latestBids: this.#offers.toReversed()
    }
  }

  /** The closing as announced, or as bids have moved it. */
  get closeAt(): number {
    return Math.max(Math.min(this.configuration.closeAt, this.#window?.closeAt ?? Infinity), this.#extendedTo)
  }

  /** The opening in force. */
  get #openAt(): number {
    return Math.max(this.configuration.openAt ?? 0, this.#window?.openAt ?? 0)
  }

  #move(window: ExperienceWindow, now: number): void {
    if (this.#closedAt !== Infinity || window.revision <= (this.#window?.revision ?? 0)) return
    const { openAt: wanted, ...others } = window
    const hadOpened = this.#openAt <= now
    const openAt = hadOpened ? this.#window?.openAt : wanted
    this.#window = { ...others, ...(openAt !== undefined && { openAt }) }
    this.#toldAt = now
    if (!hadOpened && this.#openAt <= now) this.#releasedAt = now
  }

  /** Returns the least amount for this bidder's english bid, or its price in a dutch auction. */
  minimum(consumerId: string, now: number): bigint {
    if (this.configuration.auctionType === "dutch") return this.#price(now)
    const { quantity, startPrice, minBidIncrement = 1n } = this.configuration
    const leading = this.#leading()
    const own = this.#offers.findLast((offer) => offer.consumerId === consumerId)
    const bounds = [startPrice]
    if (leading.length >= quantity) bounds.push(leading.at(-1)!.amount + minBidIncrement)
    if (own !== undefined) bounds.push(own.amount + 1n)
    return up(bounds.reduce((a, b) => (a > b ? a : b)))
  }

  /** Returns the greatest amount of an english bid, where `minimum` is the least. */
  maximum(minimum: bigint): bigint {
    const { minBidIncrement = 1n, maxBid = largest, maxBidJump = largest } = this.configuration
    return [largest - minBidIncrement, maxBid, minimum + maxBidJump].map(down).reduce((a, b) => (a < b ? a : b))
  }

  /** Returns the greatest amount that needs no confirmation, where `minimum` is the least. */
  likely(minimum: bigint): bigint {
    const { maxBid, maxBidJump } = this.configuration
    if (maxBid !== undefined || maxBidJump !== undefined) return largest
    const sure = 101n * 10n ** 8n - minorUnit
    return minimum * 100n > sure ? minimum * 100n : sure
  }

  get #settlesAt(): number {
    const { auctionType, quantity, settleAt } = this.configuration
    const isSoldOut = auctionType === "dutch" && this.#won.length === quantity
    return this.#isEnded || isSoldOut ? this.#closedAt : Math.max(this.#closedAt, settleAt)
  }

  /** The last bids of the bidders that still wait, the best first. */
  #ranked(): Array<Offer> {
    return this.#offers
      .filter((offer, index) => !this.#offers.slice(index + 1).some((later) => later.consumerId === offer.consumerId))
      .filter(({ consumerId }) => this.#bidders.get(consumerId)!.status === "PENDING")
      .map((offer) => ({ offer, index: this.#offers.indexOf(offer) }))
      .toSorted((a, b) =>
        a.offer.amount === b.offer.amount ? a.index - b.index : a.offer.amount > b.offer.amount ? -1 : 1
      )
      .map(({ offer }) => offer)
  }

  #leading(): Array<Offer> {
    return this.#ranked().slice(0, this.configuration.quantity)
  }

  #settle(at: number): void {
    this.#isSettled = true
    const { reservePrice = 0n } = this.configuration
    const winners = this.#isEnded ? [] : this.#leading().filter(({ amount }) => amount >= reservePrice)
    for (const [consumerId, bidder] of this.#bidders) {
      if (bidder.status !== "PENDING") continue
      if (this.#isEnded) become(bidder, "DENIED", at, "AUCTION_CLOSED")
      else become(bidder, winners.some((winner) => winner.consumerId === consumerId) ? "WON" : "LOST", at)
    }
    this.#won.push(...winners)
  }

  #statusOf(consumerId: string): View["status"] {
    const bidder = this.#bidders.get(consumerId)
    if (bidder === undefined) return "NOT_BID"
    if (bidder.status !== "PENDING") return bidder.status
    if (!this.#offers.some((offer) => offer.consumerId === consumerId)) return "BIDDING"
    return this.#leading().some((offer) => offer.consumerId === consumerId) ? "WINNING" : "OUTBID"
  }

  #shut(now: number): Refused | undefined {
    const { auctionType, quantity } = this.configuration
    const openAt = this.#openAt
    if (auctionType === "dutch" && this.#won.length === quantity) return { refused: "SoldOut" }
    if (this.#closedAt !== Infinity) return { refused: "Closed" }
    return now < openAt ? { refused: "NotOpen", opensAt: openAt } : undefined
  }

  #enter(consumerId: string, now: number): undefined {
    if (this.#bidders.has(consumerId)) return
    this.#bidders.set(consumerId, { enteredAt: now, status: "PENDING", since: now, reason: "" })
  }

  #unfit(consumerId: string): Refused | undefined {
    const bidder = this.#bidders.get(consumerId)
    return bidder === undefined || bidder.status === "PENDING"
      ? undefined
      : { refused: "WrongStatus", status: bidder.status }
  }

  #bidEnglish(consumerId: string, amount: bigint | undefined, now: number, isConfirmed: boolean): Refused | undefined {
    if (amount === undefined) return { refused: "AmountMissing" }
    if (amount % minorUnit !== 0n) return { refused: "AmountNotWhole", amount, fractionDigits: 2 }
    const refused = this.#shut(now) ?? this.#unfit(consumerId)
    if (refused !== undefined) return refused
    const minimum = this.minimum(consumerId, now)
    if (amount < minimum) return { refused: "BidTooLow", minimumBid: minimum }
    const likely = this.likely(minimum)
    if (!isConfirmed && amount > likely) return { refused: "BidUnlikely", maximumBid: likely }
    const maximum = this.maximum(minimum)
    if (amount > maximum) return { refused: "BidTooHigh", maximumBid: maximum }
    this.#enter(consumerId, now)
    this.#offers.push({ consumerId, amount, placedAt: now })
    const extendedTo = now + this.configuration.autoExtendSeconds * 1000
    if (extendedTo > this.closeAt) this.#extendedTo = extendedTo
    return undefined
  }

  #bidDutch(consumerId: string, amount: bigint | undefined, now: number): Refused | undefined {
    if (amount !== undefined && amount % minorUnit !== 0n)
      return { refused: "AmountNotWhole", amount, fractionDigits: 2 }
    if (this.#bidders.get(consumerId)?.status === "WON") return undefined
    const refused = this.#shut(now) ?? this.#unfit(consumerId)
    if (refused !== undefined) return refused
    const price = this.#price(now)
    if (amount !== undefined && amount < price) return { refused: "BidTooLow", minimumBid: price }
    this.#enter(consumerId, now)
    const offer = { consumerId, amount: price, placedAt: now }
    this.#offers.push(offer)
    this.#won.push(offer)
    become(this.#bidders.get(consumerId)!, "WON", now)
    if (this.#won.length === this.configuration.quantity) {
      this.#closedAt = now
      this.notice(now)
    }
    return undefined
  }

  /** Computes the price interval by interval, and rounds it up to a whole minor unit. */
  #price(now: number): bigint {
    const { startPrice, floorPrice, priceDropAmount, priceDropIntervalSeconds } = this.configuration
    const openings = [this.configuration.openAt ?? this.#createdAt, this.#window?.openAt ?? 0, this.#releasedAt]
    const openAt = openings.toSorted((a, b) => b - a)[0]!
    let price = startPrice
    const until = Math.min(now, this.#closedAt)
    for (
      let dropAt = openAt + priceDropIntervalSeconds! * 1000;
      dropAt <= until;
      dropAt += priceDropIntervalSeconds! * 1000
    ) {
      price -= priceDropAmount!
      if (price < floorPrice!) return up(floorPrice!)
    }
    return up(price)
  }

  #finish(
    consumerId: string,
    to: "DENIED" | "COMPLETED",
    from: ReadonlyArray<string>,
    now: number,
    reason = ""
  ): Refused | undefined {
    const status = this.#statusOf(consumerId)
    if (status === to) return to === "COMPLETED" ? { refused: "AlreadyCompleted" } : undefined
    if (!from.includes(status)) return { refused: "WrongStatus", status }
    become(this.#bidders.get(consumerId)!, to, now, reason)
    return undefined
  }
}

const become = (bidder: Bidder, status: Bidder["status"], since: number, reason = ""): void => {
  bidder.status = status
  bidder.since = since
  bidder.reason = reason
}

/** Returns the amount as text, digit by digit, with up to eight decimals and without trailing zeros. */
export const textOf = (amount: bigint): string => {
  const digits = `${amount}`.padStart(9, "0")
  const text = `${digits.slice(0, -8)}.${digits.slice(-8)}`
  return text.replace(/\.?0+$/, "")
}
