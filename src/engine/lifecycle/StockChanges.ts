/**
 * Changes the settings of stocks. Two changes at once, on any nodes, do not undo each other: the actor refuses the one
 * that was derived from a former configuration, and it is derived again.
 */
import { Effect } from "effect"
import type { MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import type { Configuration } from "../../domain/stock/Configuration.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Engine } from "../Engine.ts"

/** Attempts of a change while changes at other nodes come first. */
const attemptsMax = 20

/** Derives the settings of a stock from its present ones, and sets them. Undefined: they stay. */
export const changeStock = Effect.fnUntraced(function* <E, R>(
  engine: Engine["Service"],
  stock: MechanismRef<"stock">,
  by: string,
  derive: (from: Configuration) => Effect.Effect<Configuration | undefined, E, R>
) {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const { configuration: from } = yield* engine.definition(stock)
    const configuration = yield* derive(from)
    if (configuration === undefined) return
    const isChanged = yield* engine.sendAdmin(stock, { _tag: "Configure", configuration, from, by }).pipe(
      Effect.as(true),
      Effect.catchTag("ConfigurationChanged", () => Effect.succeed(false))
    )
    if (isChanged) return
  }
  return yield* new Unavailable({ cause: "the stock is changed by others" })
})
