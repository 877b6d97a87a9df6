import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../src/engine/Engine.ts"
import { StockCreation } from "../../../src/engine/lifecycle/StockCreation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Stocks } from "../../../src/store/stock/Stocks.ts"
import { aProduct, aVariant } from "../../store/catalogue/catalogueFixture.ts"
import { aTenant, layer as records } from "../../store/support/recordsFixture.ts"

const services = StockCreation.layer.pipe(
  Layer.provideMerge(Engine.layer({ node: "here" })),
  Layer.provideMerge(Stocks.layer),
  Layer.provideMerge(records)
)

describe("a new stock", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has the units of its variants and runs, or nothing of it exists", () =>
      Effect.gen(function* () {
        const creation = yield* StockCreation
        const engine = yield* Engine
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const variantId = yield* aVariant(tenant, yield* aProduct(tenant), { inventoryQuantity: 7 })
        const configuration = { name: "Pairs", variantIds: [variantId], takers: [], returnsCancelled: true }
        const id = yield* creation.create(tenant, "admin", configuration)
        assert.deepInclude(yield* engine.facts({ kind: "stock", id, tenant }), { onHand: 7, free: 7, sold: 0 })
        const head = yield* (yield* Journal).head(id)
        assert.deepInclude(head, {
          identity: { ...tenant, id, kind: "stock", experienceId: undefined, sequenceId: undefined }
        })
        const again = yield* Effect.flip(creation.create(tenant, "admin", configuration))
        assert.deepInclude(again, { _tag: "VariantInStock", variantId, stockId: id })
        const ids = yield* sql`select id from mechanisms where organization_id = ${tenant.organizationId}`
        assert.deepStrictEqual(ids, [{ id }])
      })
    )
  })
})
