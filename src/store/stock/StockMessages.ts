/** What stocks have yet to learn of orders (`StockUnits.ts`). */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import * as Time from "../coordination/Time.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"

/** Units that come back to a stock; null: the order of this name was not written. */
export interface StockMessage {
  readonly id: string
  readonly tenant: Tenant
  readonly stockId: string
  readonly units: number | null
}

/** Messages of one round. */
const messagesMax = 100

/** A message that could not be told waits so long, and lets others pass. */
const retryMillis = 5_000

export class StockMessages extends Context.Service<
  StockMessages,
  {
    /**
     * Runs `tell` for messages that are due, the oldest first, and removes those for which it returns true. The others
     * are due again later. An order whose message is told meanwhile cannot be written. Returns true if there may be more.
     */
    deliver<R>(
      tell: (message: StockMessage) => Effect.Effect<boolean, never, R>
    ): Effect.Effect<boolean, Unavailable, R>
  }
>()("usher/store/stock/StockMessages") {
  static readonly layer = onDatabase(StockMessages, (sql) => ({ deliver: makeDeliver(sql) }))
}

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly stock_id: string
  readonly units: number | null
}

const toMessage = ({ id, organization_id: organizationId, mode, stock_id: stockId, units }: Row): StockMessage => ({
  id,
  tenant: { organizationId, mode },
  stockId,
  units
})

const makeDeliver = (sql: PgClient.PgClient) =>
  Effect.fn("StockMessages.deliver")(function* <R>(tell: (message: StockMessage) => Effect.Effect<boolean, never, R>) {
    const now = new Date(yield* Time.serverNow)
    const [due] = yield* sql`select 1 from stock_messages where due_at <= ${now} limit 1`
    if (due === undefined) return false
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        const rows = yield* sql<Row>`
            select * from stock_messages where due_at <= ${now} order by due_at limit ${messagesMax}
            for update skip locked`
        const told: Array<string> = []
        const untold: Array<string> = []
        for (const row of rows) ((yield* tell(toMessage(row))) ? told : untold).push(row.id)
        yield* sql`delete from stock_messages where id = any(${told})`
        const later = new Date(now.getTime() + retryMillis)
        if (untold.length > 0) yield* sql`update stock_messages set due_at = ${later} where id = any(${untold})`
        return rows.length === messagesMax
      })
    )
  }, orUnavailable)
