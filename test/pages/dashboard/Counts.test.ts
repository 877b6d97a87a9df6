import { assert, describe, it } from "@effect/vitest"
import { viewOf } from "../../../src/pages/dashboard/drop/Kinds.ts"
import { countsOf, type Mechanism } from "../../../src/pages/dashboard/drop/Drop.ts"

/** Each status of a kind, with its number of consumers, and the groups that the control room shows. */
const cases: ReadonlyArray<readonly [type: Mechanism["type"], counts: object, shown: ReadonlyArray<number>]> = [
  ["queue", { QUEUED: 1, GRANTED: 2, COMPLETED: 4, DENIED: 8, LEFT: 16 }, [1, 2, 4, 24]],
  ["draw", { ENTERED: 1, WON: 2, COMPLETED: 4, DENIED: 8, LEFT: 16 }, [1, 2, 4, 24]],
  ["auction", { BIDDING: 1, WINNING: 2, OUTBID: 4, WON: 8, COMPLETED: 16, LOST: 32, DENIED: 64 }, [7, 8, 16, 96]],
  ["timed_release", { ENTERED: 1, COMPLETED: 2, LEFT: 4, DENIED: 8, EXPIRED: 16 }, [0, 1, 2, 28]],
  ["appointment", { BOOKED: 1, CHECKED_IN: 2, COMPLETED: 4, CANCELLED: 8, NO_SHOW: 16 }, [0, 1, 6, 24]],
  ["waitlist", { ENTERED: 1, NOTIFIED: 2, LEFT: 4, DENIED: 8 }, [3, 0, 0, 12]]
]

describe("The figures of a control room", () => {
  for (const [type, counts, [waiting, admitted, completed, gone]] of cases) {
    it(`show who waits, and who holds what the mechanism gives: ${type}`, () => {
      assert.deepStrictEqual<object>(countsOf({ type, live: { counts } } as never), {
        waiting,
        admitted,
        completed,
        gone
      })
    })
  }

  it("promise no turn in a queue whose units are all given away", () => {
    const live = { counts: { QUEUED: 19, COMPLETED: 5 } }
    const settings = {
      admitRate: 30,
      maxAdmissions: 5,
      pausedAt: null,
      admissionRenewal: null,
      insideLimit: null,
      stockId: null
    }
    const hintsOf = (unitsLeft: number) =>
      viewOf({ type: "queue" })
        .figures(
          { type: "queue", ...settings, live } as never,
          { kind: "queue", unitsLeft, admitted: 5 } as never,
          0,
          undefined
        )
        .map(({ hint }) => hint)
    assert.strictEqual(hintsOf(1)[1], "last one: ≈ 1 min")
    assert.deepStrictEqual(hintsOf(0).slice(1, 3), ["no unit is left for them", "admits nobody while none is left"])
  })
})
