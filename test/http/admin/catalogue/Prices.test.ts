/** Prices of variants in the currencies of the experiences that offer them. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const aProduct = Effect.fnUntraced(function* (...prices: ReadonlyArray<string | null>) {
  const { call } = yield* Admin
  return (yield* call("POST", "/products", { name: "Cap", variants: prices.map((price) => ({ price })) })).body
})

describe("The prices of an experience's products", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are in whole minor units of its currency", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const product = yield* aProduct("49.90", "5000", null)
        const [, whole] = product.variants
        const fine = yield* aProduct("1.005")
        const offer = [{ productId: product.id }]
        const rows: ReadonlyArray<readonly [string, ReadonlyArray<object>, ReadonlyArray<string>]> = [
          ["EUR", offer, []],
          ["COP", offer, []],
          ["JPY", offer, ["products.0.productId: picklist"]],
          ["JPY", [{ productId: product.id, productVariantId: whole.id }], []],
          [
            "KRW",
            [{ productId: whole.productId, productVariantId: whole.id }, ...offer],
            ["products.1.productId: picklist"]
          ],
          ["EUR", [{ productId: fine.id }], ["products.0.productId: picklist"]],
          ["TND", [{ productId: fine.id }], []]
        ]
        for (const [currencyCode, products, issues] of rows) {
          const made = yield* call("POST", "/experiences", { name: "Drop", currencyCode, products })
          assert.deepStrictEqual(made.status === 201 ? [] : issuesOf(made), issues, `${currencyCode} ${made.text}`)
        }
      })
    )

    it.effect("stay so when a variant is added or changed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const product = yield* aProduct("5000")
        yield* call("POST", "/experiences", {
          name: "Drop",
          currencyCode: "JPY",
          products: [{ productId: product.id }]
        })
        const path = `/variants/${product.variants[0].id}`
        for (const price of ["49.90", "0.5", "5000.01", "1.00000001"]) {
          assert.deepStrictEqual(issuesOf(yield* call("PUT", path, { price })), ["price: amount"], price)
          const added = yield* call("POST", "/variants", { productId: product.id, price })
          assert.deepStrictEqual(issuesOf(added), ["price: amount"], price)
        }
        for (const price of ["6000", "6000.00", null]) {
          assert.strictEqual((yield* call("PUT", path, { price })).status, 200, `${price}`)
        }
        const unoffered = yield* aProduct("5000")
        const changed = yield* call("PUT", `/variants/${unoffered.variants[0].id}`, { price: "49.905" })
        assert.strictEqual(changed.status, 200)
      })
    )
  })
})
