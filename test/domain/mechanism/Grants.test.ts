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

/** A state in which the consumer has a place of this status, and this record of its grants. */
const having = (status: string, grants?: GrantRecord) => ({ status, places: new Map([["ada", { grants }]]) })
const statusOf = ({ status }: ReturnType<typeof having>) => status

describe("the rules for places that wait for a grant, and for grants", () => {
  const grants = grantRules({ statusOf, waiting: ["QUEUED"], granted: "GRANTED" })
  const command = { consumerId: "ada", by: "admin" }
  const leave = { _tag: "Leave", ...command } as const
  const remove = { _tag: "Remove", ...command } as const
  const event = { at: 5, consumerId: "ada", by: "admin" }

  it("complete a grant once", () => {
    const complete = { _tag: "Complete", ...command } as const
    const record = recordOf(7)
    assert.deepStrictEqual<unknown>(grants.complete(having("GRANTED", record), complete, 5), [
      { _tag: "Completed", ...event, grant: { sequence: 7, expiresAt: 9_000 } }
    ])
    assertRefused(grants.complete(having("COMPLETED", record), complete, 5), "AlreadyCompleted", { grantSequence: 7 })
    assertRefused(grants.complete(having("QUEUED"), complete, 5), "WrongStatus", { status: "QUEUED" })
  })

  it("complete a grant with its first redemption, and refuse every other", () => {
    const complete = (redemptionId: string) => ({ _tag: "Complete", ...command, redemptionId }) as const
    const record = recordOf(7)
    assert.deepStrictEqual<unknown>(grants.complete(having("GRANTED", record), complete("first"), 5), [
      { _tag: "Completed", ...event, redemptionId: "first", grant: { sequence: 7, expiresAt: 9_000 } }
    ])
    noteRedemption({ grants: record }, "first")
    assertRefused(grants.complete(having("COMPLETED", record), complete("first"), 5), "AlreadyCompleted", {
      grantSequence: 7
    })
    assertRefused(grants.complete(having("COMPLETED", record), complete("second"), 5), "AlreadyRedeemed", {
      grantSequence: 7
    })
  })

  it("count a grant that was completed without a redemption as redeemed", () => {
    const late = { _tag: "Complete", ...command, redemptionId: "late" } as const
    assertRefused(grants.complete(having("COMPLETED", recordOf(7)), late, 5), "AlreadyRedeemed", { grantSequence: 7 })
  })

  it("complete only the grant that was shown", () => {
    const shown = (grantSequence: number) => ({ _tag: "Complete", ...command, grantSequence }) as const
    const record = recordOf(3, 7)
    assert.isArray(grants.complete(having("GRANTED", record), shown(7), 5))
    assertRefused(grants.complete(having("GRANTED", record), shown(3), 5), "InvalidGrant")
    assertRefused(grants.complete(having("QUEUED"), shown(3), 5), "InvalidGrant")
  })

  it("recognize the redemption of an earlier grant, and do not complete the present one with it", () => {
    const place = new Place("ada")
    noteGrant(place, 3, 9_000)
    noteRedemption(place, "first")
    noteGrant(place, 7, Infinity)
    const again = (grantSequence?: number) =>
      ({ _tag: "Complete", ...command, redemptionId: "first", grantSequence }) as const
    for (const sequence of [undefined, 3]) {
      const outcome = grants.complete(having("GRANTED", place.grants), again(sequence), 5)
      assertRefused(outcome, "AlreadyCompleted", { grantSequence: 3 })
    }
    assert.isArray(grants.complete(having("GRANTED", place.grants), again(7), 5))
  })

  it("deny a waiting place or a granted one, once", () => {
    const deny = { _tag: "Deny", ...command, reason: "FRAUD_DETECTED" } as const
    for (const status of ["QUEUED", "GRANTED"]) {
      assert.deepStrictEqual<unknown>(grants.deny(having(status), deny, 5), [
        { _tag: "Denied", ...event, reason: "FRAUD_DETECTED" }
      ])
    }
    assert.deepStrictEqual<unknown>(grants.deny(having("DENIED"), deny, 5), [])
    assertRefused(grants.deny(having("COMPLETED"), deny, 5), "WrongStatus", { status: "COMPLETED" })
  })

  it("let a consumer leave a waiting place or a granted one, once, and record an author only if there is one", () => {
    assert.deepStrictEqual<unknown>(grants.leave(having("QUEUED"), leave, 5), [{ _tag: "Left", ...event }])
    assert.deepStrictEqual<unknown>(grants.leave(having("GRANTED"), { _tag: "Leave", consumerId: "ada" }, 5), [
      { _tag: "Left", at: 5, consumerId: "ada" }
    ])
    assert.deepStrictEqual<unknown>(grants.leave(having("LEFT"), leave, 5), [])
    assertRefused(grants.leave(having("DENIED"), leave, 5), "WrongStatus", { status: "DENIED" })
  })

  it("remove a consumer: it leaves while it waits, loses its grant, and keeps a place that is over", () => {
    assert.deepStrictEqual<unknown>(grants.remove(having("QUEUED"), remove, 5), [{ _tag: "Left", ...event }])
    assert.deepStrictEqual<unknown>(grants.remove(having("GRANTED"), remove, 5), [
      { _tag: "Denied", ...event, reason: "ADMIN_ACTION" }
    ])
    assert.deepStrictEqual<unknown>(grants.remove(having("COMPLETED"), remove, 5), [])
  })

  it("have no waiting status if a consumer enters with a grant", () => {
    const immediate = grantRules({ statusOf, granted: "ENTERED" })
    assertRefused(immediate.leave(having("QUEUED"), leave, 5), "WrongStatus", { status: "QUEUED" })
    assert.deepStrictEqual<unknown>(immediate.leave(having("ENTERED"), leave, 5), [{ _tag: "Left", ...event }])
  })
})
