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
      people: 4,
      granted: 2,
      used: 1,
      lapsed: 1,
      gaveUp: 1,
      leftOut: 1,
      soldOutAt: 20_000,
      waitSeconds: { median: 10, p95: 20, longest: 20 },
      largestSecond: 2
    })
  })

  it("is empty where nobody came", () => {
    const { people, waitSeconds, soldOutAt, largestSecond } = outcomeOf(line, [])
    assert.deepStrictEqual([people, waitSeconds, soldOutAt, largestSecond], [0, null, null, 0])
  })
})
