/** Stocks on both APIs, with the workers that carry units and tell stocks of orders. */
import { Effect, Layer } from "effect"
import { StockMessages } from "../../../src/store/stock/StockMessages.ts"
import { Stocks } from "../../../src/store/stock/Stocks.ts"
import * as StockRecords from "../../../src/workers/StockRecords.ts"
import * as StockTransfers from "../../../src/workers/StockTransfers.ts"
import { created } from "../consumer/mechanism/mechanismFixture.ts"
import * as Fixture from "./usherFixture.ts"
import { asServer, Usher } from "./usherFixture.ts"

export const layer = Layer.mergeAll(StockTransfers.layer, StockRecords.layer).pipe(
  Layer.provide(Layer.merge(StockMessages.layer, Stocks.layer)),
  Layer.provideMerge(Fixture.layer)
)

/** Creates a stock of a new variant with so many units. */
export const aStock = Effect.fnUntraced(function* (units: number) {
  const { admin, brand } = yield* Usher
  const headers = asServer(brand.secretKey)
  const { id: productId } = yield* created("/products", { name: "Boots" })
  const stocked = { productId, sku: "42", inventoryPolicy: "deny", inventoryQuantity: units }
  const { id: variantId } = yield* created("/variants", stocked)
  const { id } = yield* created("/stocks", { name: "Pairs", variantIds: [variantId] })
  return {
    id,
    variantId,
    read: Effect.map(admin({ path: `/api/stocks/${id}`, headers }), ({ body }) => body),
    adjust: (by: number) =>
      admin({ method: "POST", path: `/api/stocks/${id}/adjust`, headers, body: { by, reason: "DELIVERED" } })
  }
})
