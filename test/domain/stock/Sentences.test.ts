import { assert, describe, it } from "@effect/vitest"
import { sentenceOf } from "../../../src/domain/stock/Sentences.ts"

describe("the events of a stock in words", () => {
  it("name units, mechanisms, transfers and orders", () => {
    assert.strictEqual(
      sentenceOf("UnitsLeft", { units: 1, distributionId: "queue", transfer: 3 }),
      "1 unit left for queue, transfer 3."
    )
    assert.strictEqual(sentenceOf("OrderCounted", { orderId: "one/more", units: 2 }), "Order one took 2 units.")
    assert.strictEqual(sentenceOf("Adjusted", { units: -2, reason: "DAMAGED" }), "2 units were taken away: DAMAGED.")
  })

  it("are the type of an event that this release does not know", () => {
    assert.strictEqual(sentenceOf("toString", {}), "toString")
  })
})
