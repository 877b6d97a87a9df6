import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type Bid, type Command, type Configuration, decider } from "../../../src/domain/auction/Auction.ts"
import type { ExperienceWindow } from "../../../src/domain/experience/ExperienceWindow.ts"
import { below, type Random32, seededRandom } from "../../../src/domain/values/SeededRandom.ts"
import { askedOf, isEvents } from "../mechanism/support/History.ts"
import { itAcceptsAny } from "../mechanism/support/Properties.ts"
import {
  at,
  bid,
  complete,
  configure,
  confirmedBid,
  deny,
  dutch,
  end,
  english,
  enter,
  History,
  remove,
  start
} from "./history.ts"
import { Reference, type Refused, textOf, unitsOf } from "./Reference.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim"]
const sequences = Number(process.env["AUCTION_SEQUENCES"] ?? 2_000)

const unit = 100_000_000n
const cent = 1_000_000n

/** Returns random numbers of this seed. */
const randomOf = (seed: number): Random32 => {
  const random = seededRandom(seed.toString(16).padStart(32, "9"))
  for (let index = 0; index < 10; index++) random()
  return random
}

const pick = <A>(random: Random32, ...values: ReadonlyArray<A>): A => values[below(random, values.length)]!

/** Returns the settings of an auction that closes at second 10. */
const configurationOf = (random: Random32): Configuration => {
  const shared = {
    quantity: pick(random, 1, 1, 2, 3),
    closeAt: at(10),
    settleAt: pick(random, at(10), at(10), at(11), at(13)),
    startPrice: pick(random, "10", "10", "10", "0"),
    ...(pick(random, true, false) && { openAt: at(9) }),
    ...(pick(random, true, false) && { admissionExpirationSeconds: pick(random, 1, 2) })
  }
  if (below(random, 4) === 0) {
    const interval = { priceDropAmount: pick(random, "0.00000001", "1.0", "3"), priceDropIntervalSeconds: 1 }
    return dutch({ ...shared, floorPrice: pick(random, "0", "5.00"), ...interval })
  }
  return english({
    ...shared,
    autoExtendSeconds: pick(random, 0, 1, 1, 2),
    minBidIncrement: pick(random, "0.00000001", "1.00", "2.5"),
    ...(pick(random, true, false, false) && { maxBid: pick(random, "13", "14.005") }),
    ...(pick(random, true, false, false) && { maxBidJump: pick(random, "0.5", "2") }),
    ...(pick(random, true, false) && { reservePrice: pick(random, "11.0", "13") })
  })
}

/** Returns milliseconds until the next step. Most steps are around the closing and its extensions. */
const waitOf = (random: Random32): number => pick(random, 0, 0, 0, 1, 1, 2, 250, 499, 500, 998, 999, 1000, 1001)

/** Returns an amount near the minimum, or one of few round amounts, so that some bids are equal. */
const amountOf = (random: Random32, reference: Reference, consumerId: string, now: number): bigint | undefined => {
  const minimum = reference.minimum(consumerId, now)
  const amount = pick(
    random,
    minimum,
    minimum,
    minimum < cent ? minimum : minimum - cent,
    minimum + cent,
    minimum + 1n,
    reference.likely(minimum),
    reference.likely(minimum) + cent,
    reference.maximum(minimum),
    reference.maximum(minimum) + cent,
    minimum + unit,
    10n * unit,
    12n * unit,
    13n * unit,
    undefined
  )
  // A longer amount is no amount: it does not reach the auction.
  return amount !== undefined && amount >= 10n ** 20n ? 10n ** 20n - cent : amount
}

/** Returns a window around the auction's own. A revision that is not new changes nothing. */
const windowOf = (random: Random32): ExperienceWindow => {
  const openAt = pick(random, undefined, at(8), at(9.2), at(9.999))
  const closeAt = pick(random, undefined, at(9.4), at(9.999), at(11))
  return {
    revision: below(random, 6),
    ...(openAt !== undefined && { openAt }),
    ...(closeAt !== undefined && { closeAt })
  }
}

const commandOf = (random: Random32, reference: Reference, now: number): Command | undefined => {
  const consumerId = pick(random, ...consumers)
  const kind = below(random, 40)
  if (kind === 0) return end
  if (kind === 1) return deny(consumerId)
  if (kind === 2) return remove(consumerId)
  if (kind <= 4) return complete(consumerId)
  if (kind <= 7) return enter(consumerId)
  if (kind <= 11) return undefined
  if (kind === 12) return { _tag: "SetExperienceWindow", window: windowOf(random), by: "admin" }
  const amount = amountOf(random, reference, consumerId, now)
  if (amount === undefined) return bid(consumerId)
  return below(random, 4) === 0 ? confirmedBid(consumerId, textOf(amount)) : bid(consumerId, textOf(amount))
}

/** The auction and its reference, with the same commands, and the way in which the auction notices time. */
class Pair {
  readonly history = new History()
  readonly reference: Reference
  readonly #tick: "noticed" | "until"
  readonly #handles = new Map<string, string>()

  constructor(configuration: Configuration, tick: "noticed" | "until") {
    this.history.when(0, configure(configuration))
    this.reference = new Reference(configuration, start)
    this.#tick = tick
  }

  /** Runs a step and returns the differences; undefined if there are none. */
  step(now: number, command: Command | undefined): unknown {
    const seconds = (now - start) / 1000
    this.history[this.#tick](seconds)
    this.reference.notice(now)
    if (command !== undefined) {
      const outcome = outcomeOf(this.history.when(seconds, command))
      const expected = this.reference.command(command, now)
      if (!isDeepStrictEqual(outcome, expected)) return { outcome, expected }
      this.history[this.#tick](seconds)
    }
    for (const consumerId of consumers) {
      const seen = this.#seen(consumerId, seconds)
      const expected = this.reference.view(consumerId)
      if (!isDeepStrictEqual(seen, expected)) return { consumerId, seen, expected }
    }
    const facts = this.#facts(seconds)
    const expected = this.reference.facts(now)
    if (!isDeepStrictEqual(facts, expected)) return { facts, expected }
    const { closeAt } = this.history.state.configuration
    return closeAt === this.reference.closeAt ? undefined : { closeAt, expected: this.reference.closeAt }
  }

  #seen(consumerId: string, seconds: number): unknown {
    const view = this.history.view(seconds, consumerId)
    if (view.status === "NOT_BID") return view
    const { bidderHandle, ...seen } = view
    this.#handles.set(bidderHandle, consumerId)
    const { grantSequence: _, completedGrant: _2, ...rest } = { grantSequence: undefined, completedGrant: 0, ...seen }
    return inUnits(rest)
  }

  #facts(seconds: number): unknown {
    const facts = this.history.facts(seconds)
    const named = ({ bidderHandle, ...rest }: Bid) => ({
      consumerId: this.#handles.get(bidderHandle),
      ...inUnits(rest)
    })
    return { ...inUnits(facts), leadingBids: facts.leadingBids.map(named), latestBids: facts.latestBids.map(named) }
  }
}

const outcomeOf = (outcome: ReturnType<History["when"]>): Refused | undefined => {
  if (isEvents(outcome)) return undefined
  const { _tag, grantSequence: _, ...fields } = { grantSequence: 0, ...outcome }
  return { refused: _tag, ...inUnits(fields) }
}

/** Returns the same fields with prices as numbers. */
const inUnits = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      /(amount|Amount|Price|Bid)$/.test(name) && typeof value === "string" ? unitsOf(value) : value
    ])
  )

/** Runs one sequence and returns its auction, or fails with the differences. */
const run = (seed: number): History => {
  const random = randomOf(seed)
  const pair = new Pair(configurationOf(random), pick(random, "noticed", "until"))
  let now = at(pick(random, 8, 8.5, 8.999, 9))
  for (let count = 5 + below(random, 20); count > 0; count--) {
    now += waitOf(random)
    const command = commandOf(random, pair.reference, now)
    const difference = pair.step(now, command)
    if (difference !== undefined) assert.fail(`seed ${seed}, at ${now - start} ms: ${show({ command, difference })}`)
  }
  const difference = pair.step(at(30), undefined)
  if (difference !== undefined) assert.fail(`seed ${seed}, at its end: ${show(difference)}`)
  return pair.history
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}` : inner))

/** Returns every answer that an auction gives. */
const told = (state: History["state"], now: number): unknown => ({
  ...askedOf(decider, state, consumers, now),
  facts: decider.facts!(state, now)
})

describe("an auction under random commands around its closing", () => {
  it(`has the same outcome as the reference, in ${sequences} sequences`, () => {
    const happened = new Set<string>()
    for (let seed = 0; seed < sequences; seed++) for (const { _tag } of run(seed).events) happened.add(_tag)
    const possible = [
      "Configured",
      "Entered",
      "BidPlaced",
      "Outbid",
      "Reinstated",
      "Extended",
      "Won",
      "Lost",
      "Expired"
    ]
    assert.includeMembers([...happened], [...possible, "Denied", "Completed", "Ended", "Closed", "TornDown"])
  })

  it("has the same state after a replay of its events, also through their stored form", () => {
    const encode = Schema.encodeSync(decider.event)
    const decode = Schema.decodeUnknownSync(decider.event)
    for (let seed = 0; seed < 300; seed++) {
      const history = run(seed)
      const replayed = decider.initial()
      for (const event of history.events) decider.evolve(replayed, decode(JSON.parse(JSON.stringify(encode(event)))))
      assert.deepStrictEqual(replayed, history.state, `seed ${seed}`)
      for (const now of [at(10), at(11), at(60)]) {
        assert.deepStrictEqual(told(replayed, now), told(history.state, now), `seed ${seed}`)
      }
    }
  })

  it("never goes back in time, and never has more leaders and winners than units", () => {
    for (let seed = 0; seed < 300; seed++) {
      const { events } = run(seed)
      const state = decider.initial()
      let last = 0
      for (const event of events) {
        assert.isAtLeast(event.at, last, `seed ${seed}`)
        last = event.at
        decider.evolve(state, event)
        const { WINNING = 0, WON = 0 } = decider.counts(state)
        // Between a bid and the Outbid event of the bid that it replaces, one more leads.
        const more = event._tag === "BidPlaced" ? 1 : 0
        assert.isAtMost(WINNING + WON, decider.configurationOf(state).quantity + more, `seed ${seed}`)
      }
    }
  })

  itAcceptsAny(decider, consumers, told, start)
})
