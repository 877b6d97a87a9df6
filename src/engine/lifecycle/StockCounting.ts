/** Counts the units of orders at stocks. */
import { Effect } from "effect"
import type { CountUnits } from "../../store/stock/StockUnits.ts"
import { StockShort } from "../../store/stock/StockUnits.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Engine } from "../Engine.ts"

/** Returns the function that counts the units of an order. A stock that is archived has none. */
export const countUnits =
  (engine: Engine["Service"]): CountUnits =>
  (tenant, id, { orderId, units }) =>
    engine.sendAdmin({ kind: "stock", id, tenant }, { _tag: "CountOrder", orderId, units }).pipe(
      Effect.asVoid,
      Effect.catchTags({
        TooFewUnits: ({ free }) => Effect.fail(new StockShort({ free })),
        Closed: () => Effect.fail(new StockShort({ free: 0 })),
        MechanismNotFound: () => Effect.fail(new StockShort({ free: 0 }))
      }),
      Effect.mapError((error) => (error._tag === "StockShort" ? error : new Unavailable({ cause: error })))
    )
