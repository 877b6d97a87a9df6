import { assert, describe, it } from "@effect/vitest"
import { type GrantRecord, noteGrant, noteRedemption } from "../../../src/domain/mechanism/GrantRecord.ts"
import { expiry, grantRules, startGrant } from "../../../src/domain/mechanism/Grants.ts"
import { type Chunk, IndexedList, type Member } from "../../../src/domain/mechanism/IndexedList.ts"
import { assertRefused } from "./support/History.ts"

class Place implements Member<Place> {
  readonly consumerId: string
  order = Infinity
  grants: GrantRecord | undefined = undefined
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string) {
    this.consumerId = consumerId
  }
}

const stateOf = (admissionExpirationSeconds?: number) => ({
  sequence: 7,
  configuration: { admissionExpirationSeconds },
  expiring: new IndexedList<Place>()
})

describe("the expiry of grants", () => {
  it("comes after the configured time, for the earliest grant first", () => {
    const state = stateOf(2)
    startGrant(state, new Place("later"), 5_000)
    startGrant(state, new Place("sooner"), 1_000)
    assert.strictEqual(expiry.dueAt(state), 3_000)
    assert.deepStrictEqual(
      expiry.make(state, 3_500, () => ""),
      { _tag: "Expired", at: 3_500, consumerId: "sooner" }
    )
  })

  it("never comes if the configuration has no time", () => {
    const state = stateOf()
    const place = new Place("kept")
    startGrant(state, place, 5_000)
    assert.strictEqual(place.order, Infinity)
    assert.strictEqual(state.expiring.size, 0)
    assert.strictEqual(expiry.dueAt(state), Infinity)
  })
})

/** A consumer that has had grants, the last one until second 9. */
const recordOf = (...sequences: ReadonlyArray<number>): GrantRecord => {
  const place = new Place("ada")
  for (const sequence of sequences) noteGrant(place, sequence, 9_000)
  return place.grants!
}

describe("the rules for places that wait for a grant, and for grants", () => {
  const grants = grantRules({ waiting: "QUEUED", granted: "GRANTED" })
  const command = { consumerId: "ada", by: "admin" }
  const event = { at: 5, consumerId: "ada", by: "admin" }

  it("complete a grant once", () => {
    const complete = { _tag: "Complete", ...command } as const
    const record = recordOf(7)
    assert.deepStrictEqual<unknown>(grants.complete("GRANTED", complete, 5, record), [
      { _tag: "Completed", ...event, grant: { sequence: 7, expiresAt: 9_000 } }
    ])
    assertRefused(grants.complete("COMPLETED", complete, 5, record), "AlreadyCompleted", { grantSequence: 7 })
    assertRefused(grants.complete("QUEUED", complete, 5, undefined), "WrongStatus", { status: "QUEUED" })
  })

  it("complete a grant with its first redemption, and refuse every other", () => {
    const complete = (redemptionId: string) => ({ _tag: "Complete", ...command, redemptionId }) as const
    const record = recordOf(7)
    assert.deepStrictEqual<unknown>(grants.complete("GRANTED", complete("first"), 5, record), [
      { _tag: "Completed", ...event, redemptionId: "first", grant: { sequence: 7, expiresAt: 9_000 } }
    ])
    noteRedemption({ grants: record }, "first")
    assertRefused(grants.complete("COMPLETED", complete("first"), 5, record), "AlreadyCompleted", { grantSequence: 7 })
    assertRefused(grants.complete("COMPLETED", complete("second"), 5, record), "AlreadyRedeemed", { grantSequence: 7 })
  })

  it("count a grant that was completed without a redemption as redeemed", () => {
    const late = { _tag: "Complete", ...command, redemptionId: "late" } as const
    assertRefused(grants.complete("COMPLETED", late, 5, recordOf(7)), "AlreadyRedeemed", { grantSequence: 7 })
  })

  it("complete only the grant that was shown", () => {
    const shown = (grantSequence: number) => ({ _tag: "Complete", ...command, grantSequence }) as const
    const record = recordOf(3, 7)
    assert.isArray(grants.complete("GRANTED", shown(7), 5, record))
    assertRefused(grants.complete("GRANTED", shown(3), 5, record), "InvalidGrant")
    assertRefused(grants.complete("QUEUED", shown(3), 5, undefined), "InvalidGrant")
  })

  it("recognize the redemption of an earlier grant, and do not complete the present one with it", () => {
    const place = new Place("ada")
    noteGrant(place, 3, 9_000)
    noteRedemption(place, "first")
    noteGrant(place, 7, Infinity)
    const again = (grantSequence?: number) =>
      ({ _tag: "Complete", ...command, redemptionId: "first", grantSequence }) as const
    for (const sequence of [undefined, 3]) {
      const outcome = grants.complete("GRANTED", again(sequence), 5, place.grants)
      assertRefused(outcome, "AlreadyCompleted", { grantSequence: 3 })
    }
    assert.isArray(grants.complete("GRANTED", again(7), 5, place.grants))
  })

  it("deny a waiting place or a granted one, once", () => {
    const deny = { ...command, reason: "FRAUD_DETECTED" }
    for (const status of ["QUEUED", "GRANTED"]) {
      assert.deepStrictEqual<unknown>(grants.deny(status, deny, 5), [
        { _tag: "Denied", ...event, reason: "FRAUD_DETECTED" }
      ])
    }
    assert.deepStrictEqual<unknown>(grants.deny("DENIED", deny, 5), [])
    assertRefused(grants.deny("COMPLETED", deny, 5), "WrongStatus", { status: "COMPLETED" })
  })

  it("let a consumer leave a waiting place or a granted one, once, and record an author only if there is one", () => {
    assert.deepStrictEqual<unknown>(grants.leave("QUEUED", command, 5), [{ _tag: "Left", ...event }])
    assert.deepStrictEqual<unknown>(grants.leave("GRANTED", { consumerId: "ada" }, 5), [
      { _tag: "Left", at: 5, consumerId: "ada" }
    ])
    assert.deepStrictEqual<unknown>(grants.leave("LEFT", command, 5), [])
    assertRefused(grants.leave("DENIED", command, 5), "WrongStatus", { status: "DENIED" })
  })

  it("remove a consumer: it leaves while it waits, loses its grant, and keeps a place that is over", () => {
    assert.deepStrictEqual<unknown>(grants.remove("QUEUED", command, 5), [{ _tag: "Left", ...event }])
    assert.deepStrictEqual<unknown>(grants.remove("GRANTED", command, 5), [
      { _tag: "Denied", ...event, reason: "ADMIN_ACTION" }
    ])
    assert.deepStrictEqual<unknown>(grants.remove("COMPLETED", command, 5), [])
  })

  it("have no waiting status if a consumer enters with a grant", () => {
    const immediate = grantRules({ granted: "ENTERED" })
    assertRefused(immediate.leave("QUEUED", command, 5), "WrongStatus", { status: "QUEUED" })
    assert.deepStrictEqual<unknown>(immediate.leave("ENTERED", command, 5), [{ _tag: "Left", ...event }])
  })
})
