/** Lists mechanisms that sell from a stock as its takers. */
import { Effect } from "effect"
import { takersMax } from "../../domain/stock/Configuration.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Engine, EngineError } from "../Engine.ts"

/** Attempts of a change while changes at other nodes come first. */
export const stockAttemptsMax = 20

/** Makes a mechanism the last taker of its stock, for what remains, unless it is one. */
export const addTaker = (engine: Engine["Service"]) =>
  Effect.fnUntraced(function* (
    tenant: Tenant,
    by: string,
    stockId: string,
    distributionId: string
  ): Effect.fn.Return<void, EngineError> {
    const stock = { kind: "stock", id: stockId, tenant } as const
    for (let attempt = 0; attempt < stockAttemptsMax; attempt++) {
      const { configuration: from } = yield* engine.definition(stock)
      const { takers } = from
      if (takers.some((taker) => taker.distributionId === distributionId) || takers.length >= takersMax) return
      const configuration = { ...from, takers: [...takers, { distributionId }] }
      const isAdded = yield* engine.sendAdmin(stock, { _tag: "Configure", configuration, from, by }).pipe(
        Effect.as(true),
        Effect.catchTag("ConfigurationChanged", () => Effect.succeed(false)),
        // A stock that is closed takes no takers.
        Effect.catchTags({
          Closed: () => Effect.succeed(true),
          NotOpen: () => Effect.succeed(true),
          GuestsRefused: () => Effect.succeed(true),
          ConfigurationFixed: () => Effect.succeed(true),
          TooFewUnits: () => Effect.succeed(true),
          TooManyUnits: () => Effect.succeed(true)
        })
      )
      if (isAdded) return
    }
    return yield* new Unavailable({ cause: "the stock is changed by others" })
  })
