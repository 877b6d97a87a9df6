/** What the people of a former drop did. */
import { assert, describe, it } from "@effect/vitest"
import { measuredBeside, measuredIn } from "../../../src/domain/rehearsal/Former.ts"
import type { PlayedEvent } from "../../../src/domain/rehearsal/Outcome.ts"

const event = (type: string, person: number, seconds: number): PlayedEvent => ({
  type,
  at: seconds * 1_000,
  consumerId: `${person}`,
  data: {}
})
const people = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

describe("A former drop", () => {
  it("shows how many did not use their grants, and how long the others took", () => {
    const events = [
      ...people(40).flatMap((person) => [event("Entered", person, 0), event("Granted", person, 60)]),
      ...people(30).map((person) => event("Completed", person, 60 + (person < 15 ? 50 : 100))),
      ...people(10, 30).map((person) => event("Expired", person, 660))
    ]
    assert.deepStrictEqual(measuredIn("queue", events), {
      people: 40,
      noShow: 0.25,
      checkout: { median: 50_000, spread: 1 }
    })
  })

  it("shows how long people wait, and that who got a turn would have waited longer", () => {
    const leaving = people(30).flatMap((person) => [
      event("Entered", person, 0),
      event("Left", person, 10 * (person + 1))
    ])
    assert.deepStrictEqual(measuredIn("queue", leaving).patience, { median: 150_000, spread: 3 })
    const granted = people(30, 30).flatMap((person) => [
      event("Entered", person, 0),
      event("Granted", person, 10 * (person - 29) + 5)
    ])
    const later = measuredIn("queue", [...leaving, ...granted]).patience
    assert.isAbove(later!.median, 150_000)
    const served = people(100, 30).flatMap((person) => [event("Entered", person, 0), event("Granted", person, 500)])
    assert.isUndefined(measuredIn("queue", [...leaving, ...served]).patience)
  })

  it("shows nothing with few people, and a crowd's own figures stay", () => {
    const few = people(5).flatMap((person) => [event("Entered", person, 0), event("Granted", person, 1)])
    assert.deepStrictEqual(measuredIn("queue", [...few, event("Completed", 1, 9)]), { people: 5 })
    const measured = { people: 40, noShow: 0.25, checkout: { median: 50_000, spread: 2 } }
    assert.deepStrictEqual(measuredBeside(["noShow"], measured), { checkout: measured.checkout })
  })
})
