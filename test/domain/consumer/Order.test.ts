import { assert, describe, it } from "@effect/vitest"
import { amountMax, toText } from "../../../src/domain/values/Amount.ts"
import {
  isBeyondAmounts,
  type Item,
  isOrderable,
  mayBecome,
  momentsAt,
  type OrderStatus,
  totalOf
} from "../../../src/domain/consumer/Order.ts"

const item = (quantity: number, unitPrice: string): Item => ({ quantity, unitPrice })

const statuses: ReadonlyArray<OrderStatus> = ["CREATED", "PAID", "FULFILLED", "CANCELLED"]

describe("An order's total", () => {
  it("is the exact sum of its items, which floating point would miss", () => {
    assert.strictEqual(totalOf({ items: [item(3, "0.1"), item(1, "0.00000001")] }), "0.30000001")
    assert.strictEqual(totalOf({ items: [item(1_000_000, "999999.99999999")] }), "999999999999.99000000")
    assert.strictEqual(totalOf({ items: [] }), "0")
  })

  it("has as many digits after the point as the longest of the prices", () => {
    assert.strictEqual(totalOf({ items: [item(2, "19.90")] }), "39.80")
    assert.strictEqual(totalOf({ items: [item(1, "19.90"), item(1, "0.1")] }), "20.00")
    assert.strictEqual(totalOf({ items: [item(2, "10"), item(1, "0.500")] }), "20.500")
    assert.strictEqual(totalOf({ items: [item(3, "10")] }), "30")
  })

  it("is the given total, as it was written, if there is one", () => {
    const items = [item(2, "10")]
    assert.strictEqual(totalOf({ items }), "20")
    assert.strictEqual(totalOf({ items, total: "15.00" }), "15.00")
    assert.strictEqual(totalOf({ items, total: "0" }), "0")
  })

  it("is beyond amounts only where there is no text for it", () => {
    const most = { quantity: 1, unitPrice: toText(amountMax) }
    assert.isFalse(isBeyondAmounts({ items: [most] }))
    assert.isTrue(isBeyondAmounts({ items: [most, item(1, "0.00000001")] }))
    assert.isFalse(isBeyondAmounts({ items: [most, most], total: "1" }))
  })
})

describe("An order's status", () => {
  it("goes forward, may skip and may stay; an unfulfilled order can be cancelled, and a finished one stays so", () => {
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
  it("is one through any kind of mechanism", () => {
    const kinds = ["queue", "draw", "auction", "appointment", "timed_release", "waitlist", "toString"]
    assert.deepStrictEqual(kinds.filter(isOrderable), kinds.slice(0, 6))
  })
})
