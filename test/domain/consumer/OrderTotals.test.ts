import { assert, describe, it } from "@effect/vitest"
import { recounted } from "../../../src/domain/consumer/OrderTotals.ts"

const worth = (total: string, currencyCode = "EUR") => ({ total, currencyCode })

describe("The totals of a consumer's orders", () => {
  it("are exact sums, one for each currency", () => {
    const first = recounted({}, null, worth("0.1"))
    const second = recounted(first, null, worth("0.20"))
    const third = recounted(second, null, worth("7", "JPY"))
    assert.deepStrictEqual([first, second, third], [{ EUR: "0.1" }, { EUR: "0.30" }, { EUR: "0.30", JPY: "7" }])
    const large = { EUR: "1234567890123456.5" }
    assert.deepStrictEqual(recounted(large, null, worth("0.00000001")), { EUR: "1234567890123456.50000001" })
  })

  it("take an order as it is in place of the order as it was", () => {
    const totals = { EUR: "30.00", USD: "5" }
    assert.deepStrictEqual(recounted(totals, worth("10.00"), worth("12.50")), { EUR: "32.50", USD: "5" })
    assert.deepStrictEqual(recounted(totals, worth("10"), worth("10", "USD")), { EUR: "20.00", USD: "15" })
    assert.deepStrictEqual(recounted(totals, worth("10"), worth("10")), totals)
  })

  it("leave a currency out in which nothing is left", () => {
    assert.deepStrictEqual(recounted({ EUR: "30.00", USD: "5" }, worth("30"), null), { USD: "5" })
    assert.deepStrictEqual(recounted({}, null, worth("0.00")), {})
  })
})
