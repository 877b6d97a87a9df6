/**
 * A large draw never delays other mechanisms: the work between two readings of the clock is bounded. The tests count
 * digests and steps, because times depend on the machine.
 */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decider, type Event } from "../../../src/domain/draw/Draw.ts"
import { stepsPerSlice } from "../../../src/domain/draw/CooperativeTask.ts"
import { decodeProof } from "../../../src/domain/draw/proof/Proof.ts"
import { verify } from "../../../src/domain/draw/proof/Verification.ts"
import { at, configuration, dice, seed } from "./history.ts"
import * as Naive from "./proof/naive.ts"

/** Counts the reads of each digest's input: the salt for an entry's id, its weight for its line and for its score. */
const digests = { made: 0 }

const countReads = <A extends object, Name extends keyof A>(owner: A, name: Name): void => {
  const value = owner[name]
  Object.defineProperty(owner, name, {
    get: () => {
      digests.made++
      return value
    }
  })
}

const size = 20_000
const winnerCount = 500

/** A draw of many entries, of 200 weights. */
const large = () => {
  const state = decider.initial()
  const settings = configuration({ winnerCount, loyaltyBiasEnabled: true })
  const created = decider.decide(
    state,
    { _tag: "Configure", configuration: settings, by: "admin" },
    { now: at(0), entropy: dice(), level: 1 }
  ) as ReadonlyArray<Event>
  for (const event of created) decider.evolve(state, event)
  for (let index = 0; index < size; index++) {
    const loyaltyScore = (index % 200) / 200
    decider.evolve(state, { _tag: "Entered", at: at(1), consumerId: `consumer ${index}`, loyaltyScore })
  }
  countReads(state, "salt")
  for (const place of state.places.values()) countReads(place, "weight")
  return state
}

/** Queries the due events at drawAt until there are none, and returns the cost of each query. */
const looks = (state: ReturnType<typeof large>) => {
  const events: Array<Event> = []
  let most = 0
  let empty = 0
  while (decider.wakeAt(state) !== undefined) {
    digests.made = 0
    decider.work!(state, at(200))
    const event = decider.due(state, { now: at(200), entropy: () => "", level: 1 })
    most = Math.max(most, digests.made)
    if (event === undefined) empty++
    else {
      decider.evolve(state, event)
      events.push(event)
    }
  }
  return { events, most, empty }
}

describe("a large draw", () => {
  const state = large()
  const { events, most, empty } = looks(state)
  const winners = events.flatMap((event) => (event._tag === "Won" ? [state.places.get(event.consumerId)!] : []))

  it("is computed in slices, each of which is short", () => {
    // The end of one task and the beginning of the next may fall into one query.
    assert.isAtMost(most, 2 * stepsPerSlice)
    // Each entry has an id, a line of the list and a score, and is sorted twice.
    assert.isAtLeast(empty, (3 * size) / stepsPerSlice)
    assert.isAtMost(empty, (5 * size) / stepsPerSlice)
  })

  it("returns no event that needs unfinished work, however often it is queried", () => {
    const unworked = large()
    decider.evolve(unworked, { _tag: "Closed", at: at(100) })
    digests.made = 0
    for (let look = 0; look < 200; look++) {
      assert.isUndefined(decider.due(unworked, { now: at(200), entropy: () => "", level: 1 }))
    }
    assert.strictEqual(digests.made, 0)
  })

  it("has one event for each place, and one each for the closing, the list and the drawing", () => {
    const tags = Map.groupBy(events, ({ _tag }) => _tag)
    assert.deepStrictEqual(
      [...tags].map(([tag, { length }]) => [tag, length]),
      [
        ["Closed", 1],
        ["EntriesFixed", 1],
        ["Won", winnerCount],
        ["Drawn", 1],
        ["Denied", size - winnerCount]
      ]
    )
  })

  it("has the result of the naive algorithm, and its proof is valid", () => {
    let longest = 0
    let text = ""
    for (const piece of decider.facts!(state, at(200)).proof!("id")) {
      longest = Math.max(longest, piece.length)
      text += piece
    }
    assert.isAtMost(longest, 100_000)
    const proof = Result.getOrThrow(decodeProof(JSON.parse(text)))
    assert.lengthOf(proof.entries, size)
    assert.strictEqual(proof.entriesDigest, Naive.digest(proof.entries))
    const order = Naive.order({ seed, entriesDigest: proof.entriesDigest, beacon: "" }, proof.entries)
    assert.deepStrictEqual(proof.winners, order.slice(0, winnerCount))
    assert.lengthOf(winners, winnerCount)
    const report = verify(proof)
    assert.isTrue(report.isValid)
    assert.isTrue(report.order.join() === order.join(), "the whole order is the same")
  })

  it("has the same result after a restart in the middle of its wins", () => {
    const half = events.findIndex(({ _tag }) => _tag === "Won") + winnerCount / 2
    const resumed = large()
    for (const event of events.slice(0, half)) decider.evolve(resumed, event)
    assert.isTrue(
      JSON.stringify(looks(resumed).events) === JSON.stringify(events.slice(half)),
      "the events are the same"
    )
  })
})
