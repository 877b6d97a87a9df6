import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Engine } from "../../../src/engine/Engine.ts"
import { countUnits } from "../../../src/engine/lifecycle/StockCounting.ts"
import { Hands, layerJournal, queueId, stranger, tenant } from "../engineFixture.ts"
import { createStock, stock } from "./stockFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

describe("the units of an order", () => {
  it.effect("are counted once under their name, and never more than are free", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const count = countUnits(engine)
      yield* createStock({}, 5)
      yield* count(tenant, stock.id, { orderId: "one", units: 3 })
      yield* count(tenant, stock.id, { orderId: "one", units: 3 })
      assert.deepInclude(yield* engine.facts(stock), { free: 2, sold: 3 })
      const short = yield* Effect.flip(count(tenant, stock.id, { orderId: "two", units: 3 }))
      assert.deepInclude(short, { _tag: "StockShort", free: 2 })
      assert.deepInclude(yield* engine.facts(stock), { free: 2, sold: 3 })
    }).pipe(Effect.provide(layer))
  )

  it.effect(
    "find none in a stock that is closed, unknown or of another tenant, and fail while it cannot be reached",
    () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const count = countUnits(engine)
        yield* createStock({}, 5)
        const order = { orderId: "one", units: 1 }
        for (const [owner, id] of [
          [stranger, stock.id],
          [tenant, queueId(51)]
        ] as const) {
          assert.deepInclude(yield* Effect.flip(count(owner, id, order)), { _tag: "StockShort", free: 0 })
        }
        const reconnect = yield* (yield* Hands).cut
        assert.strictEqual((yield* Effect.flip(count(tenant, stock.id, order)))._tag, "Unavailable")
        yield* reconnect
        yield* Effect.retry(engine.sendAdmin(stock, { _tag: "End", by: "admin" }), { times: 3 })
        assert.deepInclude(yield* Effect.flip(count(tenant, stock.id, order)), { _tag: "StockShort", free: 0 })
      }).pipe(Effect.provide(layer))
  )
})
