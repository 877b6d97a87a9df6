import { assert, describe, it } from "@effect/vitest"
import { amountMax, ofText, toText } from "../../src/domain/Amount.ts"
import {
  isBeyondAmounts,
  type Item,
  isOrderable,
  mayBecome,
  momentsAt,
  type OrderStatus,
  sumOf,
  totalOf
} from "../../src/domain/Order.ts"

const item = (quantity: number, unitPrice: string): Item => ({ quantity, unitPrice: ofText(unitPrice) })

const statuses: ReadonlyArray<OrderStatus> = ["CREATED", "PAID", "FULFILLED", "CANCELLED"]

describe("An order's total", () => {
  it("is the exact sum of its items, which floating point would miss", () => {
    assert.strictEqual(toText(sumOf([item(3, "0.1"), item(1, "0.00000001")])), "0.30000001")
    assert.strictEqual(toText(sumOf([item(1_000_000, "999999.99999999")])), "999999999999.99")
    assert.strictEqual(sumOf([]), 0n)
  })

  it("is what was said, if something was", () => {
    const items = [item(2, "10")]
    assert.strictEqual(toText(totalOf({ items })), "20")
    assert.strictEqual(toText(totalOf({ items, total: ofText("15") })), "15")
    assert.strictEqual(totalOf({ items, total: 0n }), 0n)
  })

  it("is beyond amounts only where there is no text for it", () => {
    const most = { quantity: 1, unitPrice: amountMax }
    assert.isFalse(isBeyondAmounts({ items: [most] }))
    assert.isTrue(isBeyondAmounts({ items: [most, item(1, "0.00000001")] }))
    assert.isFalse(isBeyondAmounts({ items: [most, most], total: 1n }))
  })
})

describe("An order's status", () => {
  it("goes forward, may skip and may stay; only what is not fulfilled can be cancelled, and what is over stays so", () => {
    const reachable = Object.fromEntries(statuses.map((from) => [from, statuses.filter((to) => mayBecome(from, to))]))
    assert.deepStrictEqual(reachable, {
      CREATED: ["CREATED", "PAID", "FULFILLED", "CANCELLED"],
      PAID: ["PAID", "FULFILLED", "CANCELLED"],
      FULFILLED: ["FULFILLED"],
      CANCELLED: ["CANCELLED"]
    })
  })

  it("leaves the moment it was entered, and none where it was skipped", () => {
    const none = { paidAt: null, fulfilledAt: null, cancelledAt: null }
    assert.deepStrictEqual(momentsAt(none, "CREATED", 1), none)
    const paid = momentsAt(none, "PAID", 1)
    assert.deepStrictEqual(paid, { ...none, paidAt: 1 })
    assert.deepStrictEqual(momentsAt(paid, "PAID", 2), paid)
    assert.deepStrictEqual(momentsAt(paid, "FULFILLED", 3), { paidAt: 1, fulfilledAt: 3, cancelledAt: null })
    assert.deepStrictEqual(momentsAt(none, "FULFILLED", 3), { ...none, fulfilledAt: 3 })
    assert.deepStrictEqual(momentsAt(paid, "CANCELLED", 4), { paidAt: 1, fulfilledAt: null, cancelledAt: 4 })
  })
})

describe("An order through a mechanism", () => {
  it("is one through any kind but a waitlist", () => {
    const kinds = ["queue", "draw", "auction", "appointment", "timed_release", "waitlist", "toString"]
    assert.deepStrictEqual(kinds.filter(isOrderable), kinds.slice(0, 5))
  })
})
