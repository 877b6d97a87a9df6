/** A stock over the memory journal. */
import { Effect } from "effect"
import type { Configuration } from "../../../src/domain/stock/Configuration.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { queueId, tenant } from "../engineFixture.ts"

export const stock = { kind: "stock", id: queueId(50), tenant } as const

/** Creates and starts the stock, with so many units. */
export const createStock = Effect.fnUntraced(function* (settings: Partial<Configuration> = {}, units = 0) {
  const journal = yield* Journal
  const engine = yield* Engine
  const configuration = { name: "Stock", variantIds: [queueId(60)], takers: [], returnsCancelled: true, ...settings }
  const identity = { ...stock.tenant, id: stock.id, kind: "stock", experienceId: undefined, sequenceId: undefined }
  yield* journal.create([creationOf(identity as never, configuration as never, "test", 0)])
  yield* engine.start(stock.id)
  yield* engine.sendAdmin(stock, { _tag: "Adjust", units, reason: "DELIVERED", by: "test" })
})
