/**
 * The smaller events of the demo, next to its queue: a draw, two auctions and a timed release. Each returns its checks.
 * Draw and release sell from the stock of the queue.
 */
import { Clock, Duration, Effect, Random, Schedule } from "effect"
import type { AuctionState } from "../../api/consumer/AuctionApi.ts"
import type { DrawState } from "../../api/consumer/DrawApi.ts"
import type { Proof as DrawProof } from "../../domain/draw/Draw.ts"
import { verify } from "../../domain/draw/proof/Verification.ts"
import type { Client, RequestError } from "../../load/Client.ts"
import type { Proof } from "../../load/Report.ts"

type Caller = ReturnType<Client["consumer"]>

const concurrency = 16

/** Pairs of the stock that are kept for the draw and for the timed release. */
export const shares = { draw: 20, release: 10 } as const

/** A consumer of a side event. */
interface Guest {
  readonly consumerId: string
  /** Sends a request of its browser. */
  readonly ask: Caller
}

/** Creates new guests. */
export const guests = (client: Client, count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.map(client.guest, (session): Guest => ({ consumerId: session.consumerId, ask: client.consumer(session) })),
    { concurrency }
  )

/** The time for what guests do next: at least `seconds`, and more on a machine that took long to create them. */
const patientMillis = (seconds: number, tookToCreate: Duration.Duration): number =>
  Math.max(seconds * 1_000, 5 * Duration.toMillis(tookToCreate))

/** Sends a request of each guest, a few at a time. Returns the answers. */
export const each = <A>(consumers: ReadonlyArray<Guest>, act: (consumer: Guest) => Effect.Effect<A, RequestError>) =>
  Effect.forEach(consumers, act, { concurrency })

const draw = { entrants: 200, leavers: 10, decliners: 5, entrySeconds: 8 }

/**
 * A draw: guests enter, some leave, the winners are drawn at the set time, and the published proof is verified. Most
 * winners buy. `decline` gives the pairs of the others back, as a shop does for those who do not want theirs, and returns
 * how many they are.
 */
export const playDraw = Effect.fnUntraced(function* (client: Client, drawId: string) {
  const [took, consumers] = yield* Effect.timed(guests(client, draw.entrants))
  const closeAt = (yield* Clock.currentTimeMillis) + patientMillis(draw.entrySeconds, took)
  const payload = { closeAt, drawAt: closeAt }
  yield* client.admin((api) => api.draws.change({ params: { id: drawId }, payload }))
  const params = { drawId }
  yield* each(consumers, ({ ask }) => ask((api) => api.draws.enter({ params })))
  yield* each(consumers.slice(0, draw.leavers), ({ ask }) => ask((api) => api.draws.leave({ params })))
  const proof = yield* client
    .visitor((api) => api.draws.proof({ params }))
    .pipe(
      Effect.retry({
        while: ({ code }) => code === "NOT_DRAWN",
        // Proofs are limited by address: 60 a minute.
        schedule: Schedule.spaced("2 seconds").pipe(Schedule.upTo({ duration: "10 minutes" }))
      })
    )
  const states = yield* each(consumers, ({ ask }) => ask((api) => api.draws.status({ params })))
  const winners = consumers.filter((_, index) => states[index]!.status === "WON")
  const decliners = winners.slice(0, draw.decliners)
  const buyers = winners.slice(draw.decliners)
  yield* each(buyers, ({ consumerId }) => client.shop((api) => api.draws.complete({ params, payload: { consumerId } })))
  const decline = Effect.as(
    each(decliners, ({ consumerId }) =>
      client.shop((api) => api.draws.deny({ params, payload: { consumerId, reason: "ADMIN_ACTION" } }))
    ),
    decliners.length
  )
  return { checks: drawChecks(proof, states), bought: buyers.length, decline }
})

const drawChecks = (proof: DrawProof, states: ReadonlyArray<DrawState>): ReadonlyArray<Proof> => {
  const { isValid, checks } = verify(proof)
  const won = states.flatMap((state) => (state.status === "WON" ? [state.entryId] : []))
  const proven = new Set(proof.winners)
  const firstDigit = proof.seed.startsWith("0") ? "1" : "0"
  const altered = verify({ ...proof, seed: firstDigit + proof.seed.slice(1) })
  return [
    {
      claim: "the draw can be checked by anyone",
      holds: isValid && won.length === shares.draw && won.every((entryId) => proven.has(entryId)),
      detail: `${proof.entries.length} entries, ${won.length} winners, ${checks.filter(({ holds }) => holds).length} of ${checks.length} steps of the proof hold`
    },
    {
      claim: "a proof with another seed is caught",
      holds: !altered.isValid,
      detail: `${altered.checks.filter(({ holds }) => !holds).length} steps fail`
    }
  ]
}

const english = { bidders: 20, quantity: 3, seconds: 8, autoExtendSeconds: 2, bidsEach: 4 }

/** An auction that the highest bids win. A late bid extends it. */
export const playEnglishAuction = Effect.fnUntraced(function* (client: Client, sequenceId: string) {
  const { quantity, autoExtendSeconds } = english
  const [took, bidders] = yield* Effect.timed(guests(client, english.bidders))
  const settleAt = (yield* Clock.currentTimeMillis) + patientMillis(english.seconds, took)
  const prices = { startPrice: "50.00", minBidIncrement: "0.50" }
  const payload = { sequenceId, name: "Signed pairs", quantity, ...prices, autoExtendSeconds, settleAt }
  const { id } = yield* client.admin((api) => api.auctions.create({ payload }))
  const params = { auctionId: id }
  yield* each(bidders, ({ ask }) => ask((api) => api.auctions.enter({ params })))
  yield* Effect.forEach(bidders, ({ ask }) => bidSeveralTimes(ask, id), { concurrency: "unbounded", discard: true })
  const states = yield* each(bidders, ({ ask }) =>
    ask((api) => api.auctions.status({ params })).pipe(
      Effect.delay("100 millis"),
      Effect.repeat({ until: ({ status }) => status === "WON" || status === "LOST" })
    )
  )
  return { checks: [englishCheck(states)] }
})

/** Bids a random amount at intervals. Ignores a refusal because the bid is too low by then. */
const bidSeveralTimes = Effect.fnUntraced(function* (bidder: Caller, auctionId: string) {
  for (let bid = 0; bid < english.bidsEach; bid++) {
    yield* Effect.sleep(yield* Random.nextIntBetween(100, 1_000))
    const amount = `${yield* Random.nextIntBetween(50 + bid * 50, 150 + bid * 50)}.${yield* Random.nextIntBetween(10, 99)}`
    yield* bidder((api) => api.auctions.bid({ params: { auctionId }, payload: { amount } })).pipe(
      Effect.catchIf(
        ({ code }) => code === "BID_TOO_LOW" || code === "CLOSED",
        () => Effect.void
      )
    )
  }
})

const englishCheck = (states: ReadonlyArray<AuctionState>): Proof => {
  const cents = (amount: string | undefined): number => Math.round(Number(amount ?? 0) * 100)
  const winners = states.filter((state) => state.status === "WON")
  const lowestWin = Math.min(...winners.map(({ winningBidAmount }) => cents(winningBidAmount)))
  const outbid = states.filter((state) => state.status === "LOST" && cents(state.lastBidAmount) > lowestWin)
  const ownPrice = winners.every(({ winningBidAmount, lastBidAmount }) => winningBidAmount === lastBidAmount)
  return {
    claim: "the highest bids won the auction, each at its own price",
    holds: winners.length === english.quantity && outbid.length === 0 && ownPrice,
    detail: `${winners.length} of ${states.length} bidders won ${english.quantity} pairs, ${outbid.length} losers had bid more`
  }
}

const dutch = { bidders: 40, quantity: 10, startPrice: 100, floorPrice: 40, dropAmount: 5 }

/** An auction whose price falls every second. A buyer takes a unit as soon as the price is low enough. */
export const playDutchAuction = Effect.fnUntraced(function* (client: Client, sequenceId: string) {
  const buyers = yield* guests(client, dutch.bidders)
  const payload = {
    sequenceId,
    name: "Falling price",
    auctionType: "dutch" as const,
    quantity: dutch.quantity,
    startPrice: `${dutch.startPrice}`,
    floorPrice: `${dutch.floorPrice}`,
    priceDropAmount: `${dutch.dropAmount}`,
    priceDropIntervalSeconds: 1,
    settleAt: (yield* Clock.currentTimeMillis) + 60_000
  }
  const { id } = yield* client.admin((api) => api.auctions.create({ payload }))
  const paid = yield* Effect.forEach(buyers, ({ ask }) => buyWhenCheap(ask, id), { concurrency: "unbounded" })
  const sold = paid.flatMap(({ price, most }) => (price === undefined ? [] : [{ price: Number(price), most }]))
  const prices = sold.map(({ price }) => price)
  const check: Proof = {
    claim: "the falling price sold every unit, none above its buyer's maximum",
    holds: sold.length === dutch.quantity && sold.every(({ price, most }) => price <= most),
    detail: `${sold.length} of ${dutch.quantity} units sold, from ${Math.max(...prices)} down to ${Math.min(...prices)}`
  }
  return { checks: [check] }
})

/** Bids its maximum until it buys or the auction is over. Returns the price paid, if any. */
const buyWhenCheap = Effect.fnUntraced(function* (buyer: Caller, auctionId: string) {
  const most = yield* Random.nextIntBetween(dutch.floorPrice + 20, dutch.startPrice)
  const bid = buyer((api) => api.auctions.bid({ params: { auctionId }, payload: { amount: `${most}` } }))
  const attempt = Effect.map(bid, (state) => ({
    isOver: true,
    price: state.status === "WON" ? state.winningBidAmount : undefined
  })).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "409",
      ({ code }) => Effect.succeed({ isOver: code === "SOLD_OUT" || code === "CLOSED", price: undefined })
    )
  )
  const { price } = yield* Effect.repeat(Effect.delay(attempt, "200 millis"), { until: ({ isOver }) => isOver })
  return { price, most }
})

const racers = 100

/** A timed release: many more consumers than units, all at the same time. Who got one buys it. */
export const playRelease = Effect.fnUntraced(function* (client: Client, timedReleaseId: string) {
  const consumers = yield* guests(client, racers)
  const params = { timedReleaseId }
  const race = ({ ask }: Guest) =>
    ask((api) => api.timedReleases.enter({ params, payload: {} })).pipe(
      Effect.map(({ status }): string => status),
      Effect.catchIf(
        ({ code }) => code === "SOLD_OUT",
        ({ code }) => Effect.succeed(code)
      )
    )
  const outcomes = yield* Effect.forEach(consumers, race, { concurrency: "unbounded" })
  const granted = consumers.filter((_, index) => outcomes[index] === "ENTERED")
  yield* each(granted, ({ consumerId }) =>
    client.shop((api) => api.timedReleases.complete({ params, payload: { consumerId } }))
  )
  const check: Proof = {
    claim: "the timed release sold each unit once",
    holds: granted.length === shares.release,
    detail: `${granted.length} of ${racers} racers got one of ${shares.release} units`
  }
  return { checks: [check], bought: granted.length }
})
