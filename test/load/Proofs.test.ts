import { assert, describe, it } from "vitest"
import { type Answers, prove, proveEntries, type Recorded } from "../../src/load/Proofs.ts"

const event = (sequence: number, type: string, millis: number, consumerId?: string): Recorded => ({
  sequence,
  type,
  at: 1_700_000_000_000 + millis,
  consumerId: consumerId ?? null,
  data: {}
})

/** Two consumers enter, and are admitted a second apart. */
const good = [
  event(1, "Configured", 0),
  event(2, "Entered", 1, "a"),
  event(3, "Entered", 1, "b"),
  event(4, "Granted", 1_000, "a"),
  event(5, "Granted", 2_000, "b"),
  event(6, "Completed", 2_001, "a")
]
const answers: Answers = {
  positions: new Map([
    ["a", 1],
    ["b", 2]
  ]),
  granted: new Set(["a", "b"])
}

/** The first words of the claims that do not hold. */
const broken = (history: ReadonlyArray<Recorded>, given: Answers = answers, admitRate = 60) =>
  prove(history, given, admitRate).flatMap(({ claim, holds }) => (holds ? [] : [claim]))

const without = (sequence: number) => good.filter((one) => one.sequence !== sequence)

describe("the proofs of a run", () => {
  it("hold for a history that is in order", () => {
    assert.deepStrictEqual(broken(good), [])
  })

  it("accept the later position of a consumer whose entry a balancer repeated", () => {
    assert.deepStrictEqual(broken(good, { ...answers, positions: new Map([["b", 1]]) }), [])
  })

  it("find each kind of contradiction", () => {
    const renumbered = (history: ReadonlyArray<Recorded>) =>
      history.map((one, index) => ({ ...one, sequence: index + 1 }))
    assert.include(broken(without(4)), "The journal has no gap")
    assert.include(broken([...good, event(7, "Entered", 2_002, "a")]), "No consumer has two places")
    assert.include(broken([...good, event(7, "Granted", 9_000, "a")]), "No consumer was admitted twice")
    assert.include(broken(renumbered(without(3))), "Every answered entry is recorded")
    assert.include(broken(renumbered(without(5))), "Every admission that a consumer saw is recorded")
    const told = (position: number) => ({
      positions: new Map([...answers.positions, ["b", position] as const]),
      granted: new Set<string>()
    })
    assert.match(broken(good.slice(0, 3), told(1)).join(), /No position was given twice/)
    assert.match(broken(good, told(3)).join(), /No position was given twice/)
    assert.match(broken(good, told(0)).join(), /No position was given twice/)
    const swapped = [event(4, "Granted", 1_000, "b"), event(5, "Granted", 2_000, "a")]
    assert.match(broken([...good.slice(0, 3), ...swapped, good[5]!]).join(), /in the order of their entries/)
    assert.deepStrictEqual(broken(good, answers, 30), ["Never more than 30 admissions a minute"])
  })

  it("find contradictions in the entries into mechanisms of other kinds", () => {
    const failing = (...given: Parameters<typeof proveEntries>) =>
      proveEntries(...given).flatMap(({ claim, holds }) => (holds ? [] : [claim]))
    const bid = (sequence: number, amount: string) => ({ ...event(sequence, "BidPlaced", 0, "a"), data: { amount } })
    const bids = { positions: new Map([["a", undefined]]) }
    assert.deepStrictEqual(failing("auction", [event(1, "Configured", 0), bid(2, "9"), bid(3, "10")], bids, 9), [])
    assert.deepStrictEqual(failing("auction", [event(1, "Configured", 0), bid(2, "10"), bid(3, "9")], bids, 9), [
      "auction: Every accepted bid is higher than the one before it"
    ])
    assert.deepStrictEqual(failing("timed_release", good.slice(0, 3), answers, 2), [])
    assert.deepStrictEqual(failing("timed_release", good.slice(0, 3), answers, 1), [
      "timed_release: Never more than 1 places"
    ])
    assert.deepStrictEqual(failing("appointment", [event(1, "Configured", 0)], bids, 9), [
      "appointment: Every answered entry is recorded"
    ])
    assert.deepStrictEqual(failing("draw", [...good.slice(0, 3), event(4, "Entered", 2, "a")], answers, 9), [
      "draw: No consumer has two places"
    ])
  })
})
