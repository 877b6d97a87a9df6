/** Shows that the ledger notices missing facts. */
import { assert, describe, it } from "@effect/vitest"
import type { Body } from "../support/HttpConnections.ts"
import type { Recorded } from "../invariants/Reader.ts"
import { Ledger } from "./Ledger.ts"

const answer = (body: Body) => ({ status: 200, headers: {}, body })
const at = (millis: number): string => new Date(millis).toISOString()

const event = (type: string, millis: number, data: Recorded["data"] = {}): Recorded => ({
  sequence: 1,
  type,
  at: millis,
  consumerId: "a",
  data
})

/** Responses, and the events that confirm them. */
const acknowledged: { readonly [what: string]: readonly [ReadonlyArray<Body>, ReadonlyArray<Recorded>] } = {
  "a win": [[{ status: "WON", enteredAt: at(1), wonAt: at(2) }], [event("Entered", 1), event("Won", 2)]],
  "a bid": [
    [{ enteredAt: at(1), lastBidAmount: "12.50" }],
    [event("Entered", 1), event("BidPlaced", 1, { amount: "12.5" })]
  ],
  "a booking": [
    [{ status: "BOOKED", bookingId: "x", createdAt: at(1), startTime: at(9) }],
    [event("Booked", 1, { startTime: 9, bookingId: "x" })]
  ],
  "another slot": [[{ status: "BOOKED", startTime: at(8) }], [event("Rescheduled", 1, { startTime: 8 })]],
  "a cancellation": [
    [{ status: "CANCELLED", bookingId: "x" }],
    [event("Booked", 1, { startTime: 9, bookingId: "x" }), event("Cancelled", 2)]
  ],
  "a stay in a waitlist, and its end": [
    [{ isEntered: true, enteredAt: at(1) }, { isEntered: false }],
    [event("Entered", 1), event("Left", 2)]
  ]
}

describe("the ledger", () => {
  for (const [what, [answers, record]] of Object.entries(acknowledged)) {
    it(`finds ${what} in the journal, and reports it if its event is missing`, () => {
      const ledger = new Ledger()
      for (const body of answers) ledger.note("write", "m", "a", answer(body))
      assert.deepStrictEqual(ledger.missing("m", record), [])
      assert.isNotEmpty(ledger.missing("m", record.slice(0, -1)))
    })
  }

  it("compares only successful responses with the journal", () => {
    const ledger = new Ledger()
    assert.isFalse(ledger.note("write", "m", "a", { ...answer({ enteredAt: at(1) }), status: 409 }))
    assert.deepStrictEqual(ledger.missing("m", []), [])
    ledger.note("write", "m", "a", { ...answer({}), status: 500 })
    assert.lengthOf(ledger.unexpected, 1)
  })

  it("forgets a mechanism that is no longer compared", () => {
    const ledger = new Ledger()
    ledger.note("write", "m", "a", answer({ enteredAt: at(1) }))
    ledger.forget("m")
    assert.deepStrictEqual(ledger.missing("m", []), [])
  })
})
