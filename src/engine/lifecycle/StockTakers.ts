/** Lists mechanisms that sell from a stock as its takers. */
import { Effect } from "effect"
import { takersMax } from "../../domain/stock/Configuration.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Engine, EngineError } from "../Engine.ts"
import { changeStock } from "./StockChanges.ts"

/** Makes a mechanism the last taker of its stock, for what remains, unless it is one. */
export const addTaker =
  (engine: Engine["Service"]) =>
  (tenant: Tenant, by: string, stockId: string, distributionId: string): Effect.Effect<void, EngineError> =>
    changeStock(engine, { kind: "stock", id: stockId, tenant }, by, (from) => {
      const { takers } = from
      const isListed = takers.some((taker) => taker.distributionId === distributionId)
      return Effect.succeed(
        isListed || takers.length >= takersMax ? undefined : { ...from, takers: [...takers, { distributionId }] }
      )
    }).pipe(
      // A stock that is closed takes no takers.
      Effect.catchTags({
        Closed: () => Effect.void,
        NotOpen: () => Effect.void,
        GuestsRefused: () => Effect.void,
        ConfigurationFixed: () => Effect.void,
        TooFewUnits: () => Effect.void,
        TooManyUnits: () => Effect.void
      })
    )
