/** Creates stocks. */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Configuration } from "../../domain/stock/Stock.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import * as Time from "../../store/coordination/Time.ts"
import { FormatVersion } from "../../store/coordination/FormatVersion.ts"
import { Journal } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { Stocks, type UnknownMembers, type VariantInStock } from "../../store/stock/Stocks.ts"
import { Entropy } from "../actor/Entropy.ts"
import { Engine } from "../Engine.ts"
import { creationOf } from "./Creation.ts"

export class StockCreation extends Context.Service<
  StockCreation,
  {
    /** Creates a stock with the units of its variants, and starts it. Returns its id. */
    create(
      tenant: Tenant,
      by: string,
      configuration: Configuration
    ): Effect.Effect<string, UnknownMembers | VariantInStock | Unavailable>
  }
>()("usher/engine/lifecycle/StockCreation") {
  static readonly layer = Layer.effect(StockCreation)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const journal = yield* Journal
      const stocks = yield* Stocks
      const random = yield* SecureRandom.SecureRandom
      const entropy = yield* Entropy
      const formatVersion = yield* FormatVersion

      const create = Effect.fn("StockCreation.create")(function* (
        tenant: Tenant,
        by: string,
        configuration: Configuration
      ) {
        const id = yield* random.uuidV7()
        const identity = { ...tenant, id, kind: "stock", experienceId: undefined, sequenceId: undefined } as const
        const now = yield* Time.now
        yield* stocks.createOf(tenant, id, configuration.variantIds, (units) =>
          journal.create([
            creationOf(identity, configuration, by, now, {
              entropy,
              formatVersion: formatVersion.current,
              commands: [{ _tag: "Adjust", units, reason: "COUNTED", by }]
            })
          ])
        )
        yield* engine.start(id)
        return id
      })

      return { create }
    })
  )
}
