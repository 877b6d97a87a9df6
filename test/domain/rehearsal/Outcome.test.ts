/** What the events of a rehearsal led to. */
import { assert, describe, it } from "@effect/vitest"
import { outcomeOf, type PlayedEvent } from "../../../src/domain/rehearsal/Outcome.ts"
import { line } from "./rightDrop.ts"

const event = (second: number, type: string, consumerId: string, data = {}): PlayedEvent => ({
  type,
  at: second * 1_000,
  consumerId,
  data
})
const twoUnits = { ...line, settings: { ...line.settings, maxAdmissions: 2 } }

describe("The outcome of a queue", () => {
  it("counts people, grants and what became of them, waits, and when all was given away", () => {
    const { id, name, kind, ...figures } = outcomeOf(twoUnits, [
      event(0, "Entered", "ann"),
      event(0, "Entered", "bob"),
      event(1, "Entered", "cleo"),
      event(2, "Entered", "dan"),
      event(10, "Granted", "ann"),
      event(20, "Granted", "bob"),
      event(30, "Completed", "ann"),
      event(40, "Expired", "bob"),
      event(50, "Left", "cleo"),
      event(60, "Denied", "dan")
    ])
    assert.deepStrictEqual([id, name, kind], [line.id, "The line", "queue"])
    assert.deepStrictEqual(figures, {
      units: 2,
      unitsLeft: null,
      people: 4,
      granted: 2,
      served: 2,
      used: 1,
      lapsed: 1,
      gaveUp: 1,
      leftOut: 1,
      stillWaiting: 0,
      mostTaken: 2,
      soldOutAt: null,
      waitSeconds: { median: 10, p95: 20, longest: 20 },
      largestSecond: 2,
      refused: {}
    })
  })

  it("is sold out once the last unit is given away for good", () => {
    const events = [
      event(0, "Entered", "ann"),
      event(0, "Entered", "bob"),
      event(0, "Entered", "cleo"),
      event(10, "Granted", "ann"),
      event(20, "Granted", "bob"),
      event(30, "Expired", "bob"),
      event(40, "Granted", "cleo"),
      event(50, "Completed", "ann"),
      event(60, "Completed", "cleo")
    ]
    const { granted, served, used, mostTaken, soldOutAt } = outcomeOf(twoUnits, events)
    assert.deepStrictEqual([granted, served, used, mostTaken, soldOutAt], [3, 3, 2, 2, 40_000])
  })

  it("tells who still waits, and what was refused", () => {
    const { stillWaiting, refused } = outcomeOf(twoUnits, [event(0, "Entered", "ann")], new Map([["SOLD_OUT", 3]]))
    assert.deepStrictEqual([stillWaiting, refused], [1, { SOLD_OUT: 3 }])
  })

  it("is empty where nobody came", () => {
    const { people, waitSeconds, soldOutAt, largestSecond } = outcomeOf(line, [])
    assert.deepStrictEqual([people, waitSeconds, soldOutAt, largestSecond], [0, null, null, 0])
  })
})
