/**
 * The records of stocks, and which variants they have. A stock is a row of `mechanisms`, which only its journal writes.
 * While a variant belongs to a stock that is not archived, its `inventoryQuantity` is the number of the stock's units
 * that are not sold.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { Configuration } from "../../domain/stock/Configuration.ts"
import { sellingKinds } from "../../domain/mechanism/Mechanism.ts"
import type { AdjustmentReason, Level } from "../../domain/stock/Protocol.ts"
import { type StockRecord, stockSorts } from "../../domain/stock/StockRecord.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { each } from "../records/Declaration.ts"
import { makeList } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { identityAndStamps, insertRows, type RecordRow } from "../records/Rows.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"

/** Some variants or mechanisms do not exist for this tenant. 404 */
export class UnknownMembers extends Schema.TaggedError<UnknownMembers>()("UnknownMembers", {
  record: Schema.Literals(["Variant", "Distribution"]),
  ids: Schema.Array(Schema.String)
}) {}

/** Another stock, which is not archived, has the variant. Nothing was written. 409 `VARIANT_IN_STOCK` */
export class VariantInStock extends Schema.TaggedError<VariantInStock>()("VariantInStock", {
  variantId: Schema.String,
  stockId: Schema.String
}) {}

/** Mechanisms that are not over sell from the stock. 409 `STOCK_IN_USE` */
export class StockInUse extends Schema.TaggedError<StockInUse>()("StockInUse", { count: Schema.Int }) {}

interface Row extends RecordRow {
  readonly configuration: {
    readonly onHand: number
    readonly adjustedFor: AdjustmentReason | null
    readonly level: Level | null
  }
}

const decode = Schema.decodeUnknownSync(Configuration)

const toStock = (row: Row): StockRecord => {
  const { onHand, level } = row.configuration
  const { name, variantIds, takers, returnsCancelled, lowAt = null } = decode(row.configuration)
  return {
    ...identityAndStamps(row),
    name,
    variantIds,
    takers,
    returnsCancelled,
    lowAt,
    onHand,
    level: level ?? "EMPTY"
  }
}

const shape = listShape("stocks", "m", stockSorts, {
  createdAt: "timestamptz",
  name: { expression: "(m.configuration ->> 'name')", type: "text" }
})

type Sort = (typeof stockSorts)[number]

const listing = {
  service: "Stocks",
  table: "mechanisms",
  alias: "m",
  recordsOf: each(toStock),
  list: { shape, searched: "m.configuration ->> 'name'", filters: { kind: "m.kind" } }
}

export class Stocks extends Context.Service<
  Stocks,
  {
    find(tenant: Tenant, id: string): Effect.Effect<StockRecord, RecordNotFound | Unavailable>
    /** Like `find`, but also finds an archived one. */
    findAny(tenant: Tenant, id: string): Effect.Effect<StockRecord, RecordNotFound | Unavailable>
    /** The tenant's stocks with these ids, archived or not, in no particular order. */
    byIds(tenant: Tenant, ids: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<StockRecord>, Unavailable>
    list(tenant: Tenant, query: PageQuery<Sort>): Effect.Effect<Page<StockRecord>, PageRefused | Unavailable>
    /** Runs `create` with the units of the variants, in a transaction that gives the variants to the new stock. */
    createOf<A, E>(
      tenant: Tenant,
      stockId: string,
      variantIds: ReadonlyArray<string>,
      create: (units: number) => Effect.Effect<A, E>
    ): Effect.Effect<A, E | UnknownMembers | VariantInStock | Unavailable>
    /** Fails if a taker is no mechanism of the tenant that can sell from a stock. */
    refuseUnknownTakers(tenant: Tenant, ids: ReadonlyArray<string>): Effect.Effect<void, UnknownMembers | Unavailable>
    /** Fails if mechanisms sell from the stock. */
    refuseInUse(tenant: Tenant, id: string): Effect.Effect<void, StockInUse | Unavailable>
    /** True if the stock has yet to learn of orders. */
    hasMessages(tenant: Tenant, id: string): Effect.Effect<boolean, Unavailable>
    /** Gives the units to the first variant, and the variants back to orders. Again, it changes nothing. */
    release(tenant: Tenant, id: string, units: number): Effect.Effect<void, Unavailable>
    /** Writes the units that are not sold to the variants. */
    show(tenant: Tenant, id: string, units: number): Effect.Effect<void, Unavailable>
  }
>()("usher/store/stock/Stocks") {
  static readonly layer = Layer.effect(Stocks)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const list = yield* makeList(listing)
      return {
        ...makeReads(sql),
        ...makeMembership(sql),
        list: (tenant, query) => list(tenant, query, { kind: "stock" })
      }
    })
  )
}

const makeReads = (sql: PgClient.PgClient) => {
  const byIds = Effect.fn("Stocks.byIds")(function* (tenant: Tenant, ids: ReadonlyArray<string>) {
    if (ids.length === 0) return []
    const rows = yield* sql<Row>`
      select m.* from mechanisms m where m.id = any(${ids}::uuid[]) and m.kind = 'stock' and ${ofTenant(sql, tenant, "m")}`
    return rows.map(toStock)
  }, orUnavailable)

  const findAny = Effect.fn("Stocks.findAny")(function* (tenant: Tenant, id: string) {
    const [stock] = yield* byIds(tenant, [id])
    return stock ?? (yield* new RecordNotFound({ record: "Stock" }))
  })

  return {
    byIds,

    findAny,

    find: Effect.fn("Stocks.find")(function* (tenant: Tenant, id: string) {
      const stock = yield* findAny(tenant, id)
      return stock.archived ? yield* new RecordNotFound({ record: "Stock" }) : stock
    }),

    refuseUnknownTakers: Effect.fn("Stocks.refuseUnknownTakers")(function* (
      tenant: Tenant,
      ids: ReadonlyArray<string>
    ) {
      if (ids.length === 0) return
      const rows = yield* sql<{ readonly id: string }>`
        select m.id from mechanisms m
        where m.id = any(${ids}::uuid[]) and m.kind = any(${sellingKinds}) and ${unarchivedOf(sql, tenant, "m")}`
      yield* refuseMissing("Distribution", ids, rows)
    }, orUnavailable),

    refuseInUse: Effect.fn("Stocks.refuseInUse")(function* (tenant: Tenant, id: string) {
      const rows = yield* sql<{ readonly count: number }>`
        select count(*)::int as count from mechanisms m
        where ${ofTenant(sql, tenant, "m")} and m.configuration ->> 'stockId' = ${id}
          and m.teardown_status is distinct from 'completed'`
      const { count } = rows[0]!
      if (count > 0) return yield* new StockInUse({ count })
    }, orUnavailable),

    hasMessages: Effect.fn("Stocks.hasMessages")(function* (tenant: Tenant, id: string) {
      const rows = yield* sql`
        select 1 from stock_messages t where t.stock_id = ${id} and ${ofTenant(sql, tenant, "t")} limit 1`
      return rows.length > 0
    }, orUnavailable)
  }
}

const refuseMissing = (
  record: "Variant" | "Distribution",
  ids: ReadonlyArray<string>,
  rows: ReadonlyArray<{ readonly id: string }>
) => {
  const known = new Set(rows.map(({ id }) => id))
  const unknown = ids.filter((id) => !known.has(id))
  return unknown.length === 0 ? Effect.void : Effect.fail(new UnknownMembers({ record, ids: unknown }))
}

const makeMembership = (sql: PgClient.PgClient) => {
  const createOf = Effect.fn("Stocks.createOf")(
    function* <A, E>(
      tenant: Tenant,
      stockId: string,
      variantIds: ReadonlyArray<string>,
      create: (units: number) => Effect.Effect<A, E>
    ) {
      const rows = yield* sql<{ readonly id: string; readonly quantity: number }>`
        select v.id, greatest(0, coalesce((v.record ->> 'inventoryQuantity')::int, 0)) as quantity
        from product_variants v where v.id = any(${variantIds}::uuid[]) and ${unarchivedOf(sql, tenant, "v")}
        order by v.id for no key update`
      yield* refuseMissing("Variant", variantIds, rows)
      const [other] = yield* sql<{ readonly variantId: string; readonly stockId: string }>`
        select s.variant_id as "variantId", s.stock_id as "stockId"
        from stock_variants s join mechanisms m on m.id = s.stock_id
        where s.variant_id = any(${variantIds}::uuid[]) and not m.archived limit 1`
      if (other !== undefined) return yield* new VariantInStock(other)
      yield* sql`delete from stock_variants where variant_id = any(${variantIds}::uuid[])`
      const created = yield* create(rows.reduce((sum, { quantity }) => sum + quantity, 0))
      const members = variantIds.map((id) => ({ variant_id: id, stock_id: stockId }))
      yield* insertRows(sql, "stock_variants", members)
      return created
    },
    sql.withTransaction,
    orUnavailable
  )

  const release = Effect.fn("Stocks.release")(
    function* (tenant: Tenant, id: string, units: number) {
      yield* sql`
        update product_variants v
        set record = v.record || jsonb_build_object('inventoryQuantity', case when v.id = first.id then ${units}::int else 0 end)
        from stock_variants s, (
          select (m.configuration -> 'variantIds' ->> 0)::uuid as id from mechanisms m where m.id = ${id}
        ) first
        where s.stock_id = ${id} and v.id = s.variant_id and ${ofTenant(sql, tenant, "v")}`
      yield* sql`delete from stock_variants where stock_id = ${id}`
    },
    sql.withTransaction,
    orUnavailable
  )

  const show = Effect.fn("Stocks.show")(function* (tenant: Tenant, id: string, units: number) {
    yield* sql`
      update product_variants v set record = v.record || jsonb_build_object('inventoryQuantity', ${units}::int)
      from stock_variants s
      where s.stock_id = ${id} and v.id = s.variant_id and ${ofTenant(sql, tenant, "v")}
        and (v.record -> 'inventoryQuantity') is distinct from to_jsonb(${units}::int)`
  }, orUnavailable)

  return { createOf, release, show }
}
