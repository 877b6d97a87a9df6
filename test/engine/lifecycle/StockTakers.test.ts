import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { takersMax } from "../../../src/domain/stock/Configuration.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { addTaker } from "../../../src/engine/lifecycle/StockTakers.ts"
import { layerJournal, queueId, tenant } from "../engineFixture.ts"
import { createStock, stock } from "./stockFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

const takers = Effect.flatMap(Engine, (engine) =>
  Effect.map(engine.definition(stock), ({ configuration }) =>
    configuration.takers.map(({ distributionId }) => distributionId)
  )
)

const add = (id: string) => Effect.flatMap(Engine, (engine) => addTaker(engine)(tenant, "admin", stock.id, id))

describe("a mechanism that sells from a stock", () => {
  it.effect("becomes its last taker, once, also if many do so at the same time", () =>
    Effect.gen(function* () {
      yield* createStock()
      const ids = [1, 2, 3, 4, 5].map(queueId)
      yield* Effect.forEach([...ids, ...ids], add, { concurrency: "unbounded" })
      assert.sameMembers(yield* takers, ids)
      yield* add(queueId(6))
      assert.strictEqual((yield* takers).at(-1), queueId(6))
    }).pipe(Effect.provide(layer))
  )

  it.effect("is no taker of a stock that has enough, or that is closed, and fails for one that is none", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const full = Array.from({ length: takersMax }, (_, n) => ({ distributionId: queueId(n + 100) }))
      yield* createStock({ takers: full })
      yield* add(queueId(1))
      assert.lengthOf(yield* takers, takersMax)
      yield* engine.sendAdmin(stock, { _tag: "End", by: "admin" })
      yield* add(queueId(1))
      assert.notInclude(yield* takers, queueId(1))
      const refused = yield* Effect.flip(addTaker(engine)(tenant, "admin", queueId(51), queueId(1)))
      assert.strictEqual(refused._tag, "MechanismNotFound")
    }).pipe(Effect.provide(layer))
  )
})
