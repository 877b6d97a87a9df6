import { assert, describe, it } from "@effect/vitest"
import {
  completedGrant,
  ended,
  type GrantRecord,
  grantsPerConsumerMax,
  hasReachedLimit,
  noteGrant,
  noteRedemption
} from "../../../src/domain/mechanism/GrantRecord.ts"

const aPlace = (): { grants: GrantRecord | undefined } => ({ grants: undefined })

describe("the record of a consumer's grants", () => {
  it("counts them, and names the last one and its expiry", () => {
    const place = aPlace()
    assert.deepStrictEqual([completedGrant(place), ended(place.grants)], [{}, {}])
    noteGrant(place, 3, Infinity)
    assert.deepStrictEqual(ended(place.grants), { grant: { sequence: 3 } })
    noteGrant(place, 7, 9_000)
    assert.deepStrictEqual(ended(place.grants), { grant: { sequence: 7, expiresAt: 9_000 } })
    assert.deepStrictEqual(completedGrant(place), { completedGrant: 7 })
    assert.strictEqual(place.grants!.count, 2)
  })

  it("reaches a limit with as many grants, and none without a limit", () => {
    const place = aPlace()
    assert.isFalse(hasReachedLimit(place, 1))
    noteGrant(place, 3, Infinity)
    assert.deepStrictEqual([hasReachedLimit(place, 1), hasReachedLimit(place, 2)], [true, false])
    assert.isFalse(hasReachedLimit(place, undefined))
  })

  it("keeps a bounded number of earlier redemptions, and those alone", () => {
    const place = aPlace()
    noteRedemption(place, "nothing to redeem")
    assert.isUndefined(place.grants)
    for (let sequence = 1; sequence <= grantsPerConsumerMax + 10; sequence++) {
      noteGrant(place, sequence, Infinity)
      noteRedemption(place, `${sequence}`)
    }
    const { earlier, redemptionId } = place.grants!
    assert.strictEqual(redemptionId, `${grantsPerConsumerMax + 10}`)
    assert.strictEqual(earlier!.length, grantsPerConsumerMax)
    assert.deepStrictEqual(earlier!.at(-1), {
      redemptionId: `${grantsPerConsumerMax + 9}`,
      sequence: grantsPerConsumerMax + 9
    })
  })
})
