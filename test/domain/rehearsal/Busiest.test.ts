/** The busiest second of a rehearsal. */
import { assert, describe, it } from "@effect/vitest"
import type { Act } from "../../../src/domain/rehearsal/Acts.ts"
import { busiestOf } from "../../../src/domain/rehearsal/Busiest.ts"
import type { PlayedEvent } from "../../../src/domain/rehearsal/Outcome.ts"

const act = (at: number, person: number, deed: Act["deed"] = "enter"): Act => ({ at, person, mechanism: 0, deed })
const event = (at: number, type: string, consumerId: string | null): PlayedEvent => ({ type, at, consumerId, data: {} })

describe("The busiest second", () => {
  it("has the entries, the new sessions and the reads of changed places of one second", () => {
    const acts = [act(1_000, 1), act(1_400, 2, "bid"), act(1_500, 1, "bid"), act(1_600, 3, "leave"), act(9_000, 4)]
    const events = [[event(1_700, "Granted", "ann"), event(1_700, "Entered", "bob"), event(1_800, "Opened", null)]]
    assert.deepStrictEqual(busiestOf(acts, events), { at: 1_000, entries: 3, reads: 1, sessions: 2 })
  })

  it("may be that of a drawing, in which nobody acts", () => {
    const events = [Array.from({ length: 5 }, (_, index) => event(60_000, "Lost", `${index}`))]
    assert.deepStrictEqual(busiestOf([act(1_000, 1)], events), { at: 60_000, entries: 0, reads: 5, sessions: 0 })
  })

  it("is none where nothing happens", () => assert.isUndefined(busiestOf([], [[]])))
})
