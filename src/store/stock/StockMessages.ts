/** What stocks have yet to learn of orders (`StockUnits.ts`). */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { quantityBounds } from "../../domain/catalogue/Variant.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import * as Time from "../coordination/Time.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofSameTenant } from "../records/Tenancy.ts"

/** Units that come back to a stock; null: the order of this name was not written. */
export interface StockMessage {
  readonly id: string
  readonly tenant: Tenant
  readonly stockId: string
  readonly units: number | null
}

/** Messages of one round. */
const messagesMax = 100

/** A message that was taken and not told waits so long, and lets others pass. */
const retryMillis = 5_000

export class StockMessages extends Context.Service<
  StockMessages,
  {
    /**
     * Runs `tell` for messages that are due, the oldest first, and removes those for which it returns true. The others
     * are due again later, and so are all if the process dies: a message is told at least once. An order whose message
     * was taken cannot be written. Units for archived stocks go to a variant. Returns true if there may be more.
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
    yield* giveToVariants(sql, now)
    const rows = yield* claim(sql, now)
    const told: Array<string> = []
    for (const row of rows) if (yield* tell(toMessage(row))) told.push(row.id)
    if (told.length > 0) yield* sql`delete from stock_messages where id = any(${told})`
    return rows.length === messagesMax
  }, orUnavailable)

/** Takes messages, the oldest first. Taking sets when they are due again, so no transaction is open while they are told. */
const claim = (sql: PgClient.PgClient, now: Date) =>
  Effect.map(
    sql<Row & { readonly was_due_at: Date }>`
      update stock_messages t set due_at = ${new Date(now.getTime() + retryMillis)}
      from (
        select id, due_at from stock_messages where due_at <= ${now} order by due_at limit ${messagesMax}
        for update skip locked
      ) due
      where t.id = due.id returning t.*, due.due_at as was_due_at`,
    (rows) => rows.toSorted((one, other) => one.was_due_at.getTime() - other.was_due_at.getTime())
  )

/**
 * Gives units that come back to an archived stock to its first variant that belongs to no other stock, where the stock's
 * last units are too. Without such a variant they are counted nowhere.
 */
const giveToVariants = (sql: PgClient.PgClient, now: Date) => sql`
  with told as (
    delete from stock_messages t using mechanisms m
    where t.due_at <= ${now} and t.units is not null and m.id = t.stock_id and m.archived
    returning t.units, m.configuration, m.organization_id, m.mode
  ), returned as (
    select organization_id, mode, sum(units)::int as units, (
      select listed.id::uuid from jsonb_array_elements_text(configuration -> 'variantIds') with ordinality listed (id, number)
      where not exists (
        select 1 from stock_variants s join mechanisms other on other.id = s.stock_id
        where s.variant_id = listed.id::uuid and not other.archived
      )
      order by listed.number limit 1
    ) as id
    from told where (configuration ->> 'returnsCancelled')::boolean group by organization_id, mode, configuration
  )
  update product_variants v
  set record = v.record || jsonb_build_object('inventoryQuantity', least(
    ${quantityBounds.maximum}::int8, coalesce((v.record ->> 'inventoryQuantity')::int8, 0) + returned.units
  ))
  from returned
  where v.id = returned.id and ${ofSameTenant(sql, "v", "returned")}`
