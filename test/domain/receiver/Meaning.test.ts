import { assert, describe, it } from "@effect/vitest"
import { type Adjustment, type Asked, isWorth, type Paid } from "../../../src/domain/receiver/Meaning.ts"
import { ofText } from "../../../src/domain/values/Amount.ts"

const paid = (
  amount: string,
  currencyCode: string,
  adjustments: { readonly [A in Adjustment]?: string } = {}
): Paid => ({
  _tag: "Paid",
  grant: undefined,
  checkoutId: "cs_1",
  paymentId: "pi_1",
  amount,
  currencyCode,
  adjustments: {
    SHIPPING: ofText(adjustments.SHIPPING ?? "0"),
    TAX: ofText(adjustments.TAX ?? "0"),
    DISCOUNT: ofText(adjustments.DISCOUNT ?? "0")
  }
})

const asks = (amount: string, currencyCode = "EUR"): Asked => ({ amount, currencyCode })

describe("A payment", () => {
  it("is worth the same amount in the same currency, however it is written, and nothing else", () => {
    for (const amount of ["49.90", "49.9", "49.90000000"])
      assert.isTrue(isWorth(paid("49.90", "EUR"), asks(amount), []))
    for (const [amount, currency] of [
      ["49.89", "EUR"],
      ["49.91", "EUR"],
      ["4990", "EUR"],
      ["0", "EUR"],
      ["49.90", "USD"],
      ["1", "JPY"]
    ] as const) {
      assert.isFalse(isWorth(paid(amount, currency), asks("49.90"), []), `${amount} ${currency}`)
    }
    assert.isTrue(isWorth(paid("0", "EUR"), asks("0.00"), []))
  })

  it("is worth anything if no price is known", () => {
    for (const amount of ["0", "1", "49.90"]) assert.isTrue(isWorth(paid(amount, "JPY"), undefined, []))
  })

  it("may differ by the adjustments that the shop allows, and by no others", () => {
    const shipped = paid("54.90", "EUR", { SHIPPING: "5" })
    const taxed = paid("64.28", "EUR", { SHIPPING: "5", TAX: "9.38" })
    const reduced = paid("39.92", "EUR", { DISCOUNT: "9.98" })
    const free = paid("0", "EUR", { DISCOUNT: "49.90" })
    const rows: ReadonlyArray<readonly [Paid, ReadonlyArray<Adjustment>, boolean]> = [
      [shipped, [], false],
      [shipped, ["SHIPPING"], true],
      [shipped, ["SHIPPING", "SHIPPING"], true],
      [shipped, ["TAX", "DISCOUNT"], false],
      [taxed, ["SHIPPING"], false],
      [taxed, ["TAX", "SHIPPING"], true],
      [reduced, ["SHIPPING", "TAX"], false],
      [reduced, ["DISCOUNT"], true],
      [free, [], false],
      [free, ["DISCOUNT"], true],
      // The shop's price may include the shipping.
      [paid("49.90", "EUR", { SHIPPING: "5" }), ["SHIPPING"], true]
    ]
    for (const [payment, allowed, expected] of rows) {
      assert.strictEqual(isWorth(payment, asks("49.90"), allowed), expected, `${payment.amount} ${allowed}`)
    }
  })
})
