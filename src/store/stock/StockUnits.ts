/**
 * The units that orders take from stocks and give back. They join the order's transaction, but a stock counts in its own
 * journal. So a row of `stock_messages` is written before an order is counted, and goes with the order's commit. If the
 * order is not written, or the process dies, the row stays and its stock undoes the count. Units that come back have such
 * a row from the order's commit until their stock knows it.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { OutOfStock, type Units } from "../../domain/catalogue/Stock.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import * as Time from "../coordination/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** A stock has too few free units. */
export class StockShort extends Schema.TaggedError<StockShort>()("StockShort", { free: Schema.Int }) {}

/** Counts units of an order at a stock, under a name that is counted once. */
export type CountUnits = (
  tenant: Tenant,
  stockId: string,
  count: { readonly orderId: string; readonly units: number }
) => Effect.Effect<void, StockShort | Unavailable>

/** How long an order may take to be written after it was counted. */
export const orderSecondsMax = 60

/** The stocks of variants, and of the mechanism that an order came from. */
export interface OrderStocks {
  readonly byVariant: ReadonlyMap<string, string>
  readonly ofMechanism: string | undefined
}

/** Returns the stocks that an order concerns. */
export const stocksOf = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  tenant: Tenant,
  variantIds: ReadonlyArray<string>,
  distributionId: string | null
) {
  const rows = yield* sql<{ readonly variantId: string | null; readonly stockId: string }>`
    select s.variant_id as "variantId", s.stock_id as "stockId"
    from stock_variants s join mechanisms m on m.id = s.stock_id
    where s.variant_id = any(${variantIds}::uuid[]) and not m.archived and ${ofTenant(sql, tenant, "m")}
    union all
    select null, (m.configuration ->> 'stockId')::uuid from mechanisms m
    where m.id = ${distributionId} and m.configuration ->> 'stockId' is not null and ${ofTenant(sql, tenant, "m")}`
  return {
    byVariant: new Map(rows.flatMap(({ variantId, stockId }) => (variantId === null ? [] : [[variantId, stockId]]))),
    ofMechanism: rows.find(({ variantId }) => variantId === null)?.stockId
  } satisfies OrderStocks
})

/** Returns the units of the variants by stock, and those of the variants that belong to none. */
export const divided = (units: Units, { byVariant }: OrderStocks) => {
  const inStocks = new Map<string, number>()
  const others = new Map<string, number>()
  for (const [variantId, count] of units) {
    const stockId = byVariant.get(variantId)
    if (stockId === undefined) others.set(variantId, count)
    else inStocks.set(stockId, (inStocks.get(stockId) ?? 0) + count)
  }
  return { inStocks, others }
}

/** The units of an order, by stock and by variant without one. */
export type Divided = ReturnType<typeof divided>

/**
 * Returns the units that an order keeps of stocks that were archived after they had sold them. Their variants are counted
 * elsewhere now, so these are the units of the order's items that it has nowhere else.
 */
export const keptOfArchived = (had: Divided, next: Divided, { byVariant }: OrderStocks): Units => {
  const present = new Set(byVariant.values())
  const sum = (units: Units) => [...units.values()].reduce((all, count) => all + count, 0)
  const both = (some: Units, others: Units) =>
    [...some].reduce((all, [id, count]) => all + Math.min(count, others.get(id) ?? 0), 0)
  let left = sum(next.others) + sum(next.inStocks) - both(had.others, next.others) - both(had.inStocks, next.inStocks)
  const kept = new Map<string, number>()
  for (const [stockId, count] of had.inStocks) {
    if (present.has(stockId)) continue
    kept.set(stockId, Math.min(count, left))
    left -= kept.get(stockId)!
  }
  return kept
}

/** Runs an effect outside of the transaction, which waits for it. */
export const outside = <A, E, R>(sql: PgClient.PgClient, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(effect, (context: Context.Context<R>) => Context.omit(sql.transactionService)(context) as never)

const uncounted: CountUnits = () => Effect.die("the order concerns a stock, and nobody counts there")

/** Units that are counted for an order before it is written. */
export interface Counting {
  /** Takes units of a stock; `variantId` is named if it has too few. */
  readonly take: (
    stockId: string,
    orderId: string,
    units: number,
    variantId: string
  ) => Effect.Effect<void, OutOfStock | Unavailable>
  /** Ends the counting in the order's transaction. Nothing may fail after it. */
  readonly keep: Effect.Effect<void, Unavailable>
}

/** A message that was written, and when it is due. */
interface Note {
  readonly id: string
  readonly dueAt: Date
}

const idsOf = (notes: ReadonlyArray<Note>): ReadonlyArray<string> => notes.map(({ id }) => id)

/** Runs the write of an order with a counting. What it took is given back at once if it fails. */
export const counting =
  (sql: PgClient.PgClient, tenant: Tenant, count: CountUnits = uncounted) =>
  <A, E, R>(write: (counting: Counting) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const notes: Array<Note> = []
      const take: Counting["take"] = Effect.fnUntraced(function* (stockId, orderId, units, variantId) {
        if (units <= 0) return
        const id = `${orderId}/${randomUUID()}`
        const dueAt = yield* outside(
          sql,
          note(sql, tenant, { id, stockId, units: null, seconds: orderSecondsMax })
        ).pipe(orUnavailable)
        notes.push({ id, dueAt })
        yield* outside(sql, count(tenant, stockId, { orderId: id, units })).pipe(
          Effect.catchTag("StockShort", ({ free }) =>
            Effect.fail(new OutOfStock({ productVariantId: variantId, requested: units, available: free }))
          )
        )
      })
      const keep = Effect.gen(function* () {
        if (notes.length === 0) return
        // A message that was taken is due at another time: the stock may have undone the count.
        const kept = yield* sql`
          delete from stock_messages m
          using unnest(${idsOf(notes)}::text[], ${notes.map(({ dueAt }) => dueAt)}::timestamptz[]) as noted (id, due_at)
          where m.id = noted.id and m.due_at = noted.due_at and ${ofTenant(sql, tenant, "m")} returning 1`
        if (kept.length < notes.length) return yield* new Unavailable({ cause: "an order took too long to be written" })
      }).pipe(orUnavailable)
      const undo = Effect.suspend(() =>
        notes.length === 0
          ? Effect.void
          : Effect.flatMap(Time.serverNow, (now) => bringForward(sql, tenant, idsOf(notes), now))
      )
      return Effect.onError(write({ take, keep }), () => Effect.ignore(undo))
    })

/** Gives units back in the order's transaction. The stock decides whether they are free again. */
export const giveBack = (
  sql: PgClient.PgClient,
  tenant: Tenant,
  { orderId, stockId, units }: { readonly orderId: string; readonly stockId: string; readonly units: number }
) => note(sql, tenant, { id: `${orderId}/${randomUUID()}`, stockId, units, seconds: 0 })

/** Lets stocks undo at once what was counted under these names. */
const bringForward = (sql: PgClient.PgClient, tenant: Tenant, ids: ReadonlyArray<string>, now: number) =>
  Effect.asVoid(sql`
    update stock_messages m set due_at = ${new Date(now)} where m.id = any(${ids}) and ${ofTenant(sql, tenant, "m")}`)

const note = (
  sql: PgClient.PgClient,
  { organizationId, mode }: Tenant,
  message: { readonly id: string; readonly stockId: string; readonly units: number | null; readonly seconds: number }
) =>
  Effect.flatMap(Time.serverNow, (now) => {
    const dueAt = new Date(now + message.seconds * 1_000)
    return Effect.as(
      sql`
        insert into stock_messages (id, organization_id, mode, stock_id, units, due_at)
        values (${message.id}, ${organizationId}, ${mode}, ${message.stockId}, ${message.units}, ${dueAt})`,
      dueAt
    )
  })
