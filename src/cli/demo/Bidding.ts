/** The demo's two auctions: one that the highest bids win, and one with a falling price. */
import { Clock, Effect, Random, Schema } from "effect"
import { toText } from "../../domain/values/Time.ts"
import type { Apis, Session } from "./Apis.ts"
import type { Check } from "./Checks.ts"
import { each, guests, patientMillis } from "./Guests.ts"

const State = Schema.Struct({
  status: Schema.String,
  lastBidAmount: Schema.optionalKey(Schema.String),
  winningBidAmount: Schema.optionalKey(Schema.String)
})
type State = typeof State.Type

const english = { bidders: 20, quantity: 3, seconds: 8, autoExtendSeconds: 2, bidsEach: 4 }
const dutch = { bidders: 40, quantity: 10, startPrice: 100, floorPrice: 40, dropAmount: 5 }

/** Plays the auction that the highest bids win. A late bid extends it. */
export const playEnglish = Effect.fnUntraced(function* (apis: Apis, sequenceId: string) {
  const [took, bidders] = yield* Effect.timed(guests(apis, english.bidders))
  const now = yield* Clock.currentTimeMillis
  const { id } = yield* apis.admin.create("/auctions", {
    sequenceId,
    name: "Signed pairs",
    quantity: english.quantity,
    startPrice: "50.00",
    minBidIncrement: "0.50",
    autoExtendSeconds: english.autoExtendSeconds,
    settleAt: toText(now + patientMillis(english.seconds, took))
  })
  const path = `/auctions/${id}`
  yield* each(bidders, (session) => apis.consumer.post(State, `${path}/enter`, session))
  yield* Effect.forEach(bidders, (session) => bidSeveralTimes(apis, path, session), { concurrency: "unbounded" })
  const states = yield* each(bidders, (session) => untilSettled(apis, path, session))
  return [englishCheck(states)]
})

/** Bids a random amount at intervals. Ignores a refusal because the bid is too low by then. */
const bidSeveralTimes = Effect.fnUntraced(function* (apis: Apis, path: string, session: Session) {
  for (let bid = 0; bid < english.bidsEach; bid++) {
    yield* Effect.sleep(yield* Random.nextIntBetween(100, 1_000))
    const amount = `${yield* Random.nextIntBetween(50 + bid * 50, 150 + bid * 50)}.${yield* Random.nextIntBetween(10, 99)}`
    yield* Effect.catchTag(apis.consumer.post(State, `${path}/bid`, session, { amount }), "Refused", (refused) =>
      refused.code === "BID_TOO_LOW" || refused.code === "CLOSED" ? Effect.void : Effect.fail(refused)
    )
  }
})

const untilSettled = (apis: Apis, path: string, session: Session) =>
  apis.consumer
    .get(State, `${path}/status`, session)
    .pipe(Effect.delay("100 millis"), Effect.repeat({ until: ({ status }) => status === "WON" || status === "LOST" }))

const englishCheck = (states: ReadonlyArray<State>): Check => {
  const cents = (amount: string | undefined): number => Math.round(Number(amount ?? 0) * 100)
  const winners = states.filter(({ status }) => status === "WON")
  const lowestWin = Math.min(...winners.map(({ winningBidAmount }) => cents(winningBidAmount)))
  const outbid = states.filter(({ status, lastBidAmount }) => status === "LOST" && cents(lastBidAmount) > lowestWin)
  const ownPrice = winners.every(({ winningBidAmount, lastBidAmount }) => winningBidAmount === lastBidAmount)
  return {
    promise: "the highest bids won the auction, each at its own price",
    holds: winners.length === english.quantity && outbid.length === 0 && ownPrice,
    detail: `${winners.length} of ${states.length} bidders won ${english.quantity} pairs, ${outbid.length} losers had bid more`
  }
}

/** Plays the auction whose price falls every second. A buyer takes a unit as soon as the price is low enough. */
export const playDutch = Effect.fnUntraced(function* (apis: Apis, sequenceId: string) {
  const buyers = yield* guests(apis, dutch.bidders)
  const now = yield* Clock.currentTimeMillis
  const { id } = yield* apis.admin.create("/auctions", {
    sequenceId,
    name: "Falling price",
    auctionType: "dutch",
    quantity: dutch.quantity,
    startPrice: `${dutch.startPrice}`,
    floorPrice: `${dutch.floorPrice}`,
    priceDropAmount: `${dutch.dropAmount}`,
    priceDropIntervalSeconds: 1,
    settleAt: toText(now + 60_000)
  })
  const path = `/auctions/${id}`
  const paid = yield* Effect.forEach(buyers, (session) => buyWhenCheap(apis, path, session), {
    concurrency: "unbounded"
  })
  const prices = paid.flatMap(({ price, most }) => (price === undefined ? [] : [{ price: Number(price), most }]))
  const check: Check = {
    promise: "the falling price sold every unit, none above its buyer's maximum",
    holds: prices.length === dutch.quantity && prices.every(({ price, most }) => price <= most),
    detail: `${prices.length} of ${dutch.quantity} units sold, from ${Math.max(...prices.map(({ price }) => price))} down to ${Math.min(...prices.map(({ price }) => price))}`
  }
  return [check]
})

/** Bids its maximum until it buys or the auction is over. Returns the price paid, if any. */
const buyWhenCheap = Effect.fnUntraced(function* (apis: Apis, path: string, session: Session) {
  const most = yield* Random.nextIntBetween(dutch.floorPrice + 20, dutch.startPrice)
  const attempt = apis.consumer.post(State, `${path}/bid`, session, { amount: `${most}` }).pipe(
    Effect.map(({ winningBidAmount }) => ({ isOver: true, price: winningBidAmount })),
    Effect.catchTag("Refused", (refused) => {
      if (refused.status !== 409) return Effect.fail(refused)
      return Effect.succeed({ isOver: refused.code === "SOLD_OUT" || refused.code === "CLOSED", price: undefined })
    })
  )
  const { price } = yield* Effect.repeat(Effect.delay(attempt, "200 millis"), { until: ({ isOver }) => isOver })
  return { price, most }
})
