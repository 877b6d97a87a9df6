import { assert, describe, it } from "@effect/vitest"
import * as Auction from "../../../src/domain/auction/Auction.ts"
import { AdminReason } from "../../../src/domain/mechanism/Denial.ts"
import * as Draw from "../../../src/domain/draw/Draw.ts"
import * as Queue from "../../../src/domain/queue/Queue.ts"

describe("the denial reasons of an organization", () => {
  it("are three, and in a queue also the order limit", () => {
    assert.deepStrictEqual([...AdminReason.literals], ["FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION"])
    assert.deepStrictEqual([...Queue.AdminReason.literals], ["ORDER_LIMIT_EXCEEDED", ...AdminReason.literals])
  })

  it("contain no reason of a mechanism's own", () => {
    for (const { literals } of [Queue.DenialReason, Draw.DenialReason, Auction.DenialReason]) {
      const own = literals.filter((reason) => /_EXPIRED$|_CLOSED$|^NOT_/.test(reason))
      assert.isAtLeast(own.length, 2)
      for (const reason of own) assert.notInclude<string>([...Queue.AdminReason.literals], reason)
    }
  })
})
