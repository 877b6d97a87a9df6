import { assert, describe, it } from "vitest"
import { type Answers, prove, type Recorded } from "../../src/load/Proofs.ts"

const event = (sequence: number, type: string, millis: number, consumerId?: string): Recorded => ({
  sequence,
  type,
  at: new Date(1_700_000_000_000 + millis).toISOString(),
  ...(consumerId !== undefined && { consumerId })
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

  it("find each kind of contradiction", () => {
    const renumbered = (history: ReadonlyArray<Recorded>) =>
      history.map((one, index) => ({ ...one, sequence: index + 1 }))
    assert.include(broken(without(4)), "The journal has no gap")
    assert.include(broken([...good, event(7, "Entered", 2_002, "a")]), "No consumer has two places")
    assert.include(broken([...good, event(7, "Granted", 9_000, "a")]), "No consumer was admitted twice")
    assert.include(broken(renumbered(without(3))), "Every answered entry is recorded")
    assert.include(broken(renumbered(without(5))), "Every admission that a consumer saw is recorded")
    const twice = { ...answers, positions: new Map([...answers.positions, ["b", 1] as const]) }
    assert.match(broken(good, twice).join(), /No position was given twice/)
    const swapped = [event(4, "Granted", 1_000, "b"), event(5, "Granted", 2_000, "a")]
    assert.match(broken([...good.slice(0, 3), ...swapped, good[5]!]).join(), /in the order of their entries/)
    assert.deepStrictEqual(broken(good, answers, 30), ["Never more than 30 admissions a minute"])
  })
})
