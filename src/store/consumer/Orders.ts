/**
 * The orders. The transaction that writes an order also updates the totals of its consumer (`ConsumerTotals`) and the
 * inventory of its variants (`Stock`); variants of a stock are counted there (`StockUnits`). Changes to the orders of one consumer run one after another. An order locks its
 * organization, then its consumer, then itself, and its variants last.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { needsOf, type OutOfStock, type Units, unitsOf } from "../../domain/catalogue/Stock.ts"
import { type Moments, type Order, type OrderStatus, type Settings, orderSorts } from "../../domain/consumer/Order.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import * as Stock from "../catalogue/Stock.ts"
import {
  counting,
  type Counting,
  type CountUnits,
  divided,
  giveBack,
  keptOfArchived,
  type OrderStocks,
  outside,
  stocksOf
} from "../stock/StockUnits.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import * as ConcurrencyLimit from "../postgres/ConcurrencyLimit.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { make, type Readable, type Revisable } from "../records/Records.ts"
import { stampOf } from "../records/Rows.ts"
import type { Statements } from "../records/Statements.ts"
import { orTaken } from "../records/Taken.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { held, recount } from "./ConsumerTotals.ts"
import { makeOriginOf, type Origin, type References, unknownConsumer, UnknownReferences } from "./OrderOrigins.ts"
import { columnsOf, momentsOf, type Row, settingsOf, toOrder } from "./OrderRows.ts"

/** Another order of the tenant has this external id. Nothing was written. 409 */
export class ExternalIdTaken extends Schema.TaggedError<ExternalIdTaken>()("ExternalIdTaken", {}) {}

/** Another order, which is not cancelled, came from the same grant. Nothing was written. 409 */
export class GrantHasOrder extends Schema.TaggedError<GrantHasOrder>()("GrantHasOrder", {}) {}

/**
 * The maximum of concurrent order writes. Each holds a connection while it waits for a variant or for the completion of
 * a grant, and entries need connections too.
 */
const ordersAtOnce = 4

/** The maximum of waiting and running order writes. Beyond it, callers must retry later. */
const ordersMax = 1_000

/** The payment that a receiver reported for a new order. */
export interface Payment {
  /** The provider's id; that of the checkout, if nothing had to be paid. */
  readonly paymentId: string | undefined
  /** True if the order's grant had lapsed before. */
  readonly grantLapsed: boolean
}

/** What creating an order needs besides its settings. */
export interface OrderCreation<E> {
  /** Completes the grant. Absent: nothing is completed. */
  readonly complete?: Effect.Effect<number | undefined, E>
  readonly payment?: Payment
  /** Counts units at stocks. Absent: the order must concern none. */
  readonly countUnits?: CountUnits
}

/** What changing an order needs besides its settings. */
interface Change {
  /** True: the units of a cancelled order stay sold, except for those of stocks, which decide. */
  readonly keepsUnits?: boolean
  /** As in {@link OrderCreation}. */
  readonly countUnits?: CountUnits
}

export interface OrderFilter {
  readonly status?: OrderStatus | undefined
  readonly consumerId?: string | undefined
  readonly experienceId?: string | undefined
  readonly distributionId?: string | undefined
}

export const shape = listShape("orders", "o", orderSorts, {
  createdAt: "timestamptz",
  updatedAt: "timestamptz",
  total: "numeric"
})

type Sort = keyof typeof shape.sorts

const declaration: Declaration<Row, Order, Sort> = {
  service: "Orders",
  record: "Order",
  table: "orders",
  alias: "o",
  isArchivable: false,
  recordsOf: each(toOrder),
  list: {
    shape,
    searched: "(coalesce(o.external_id, '') || ' ' || coalesce(o.number, ''))",
    filters: {
      status: "o.status",
      consumerId: "o.consumer_id",
      experienceId: "o.experience_id",
      distributionId: "o.distribution_id"
    }
  }
}

export class Orders extends Context.Service<
  Orders,
  Readable<Order, Sort, OrderFilter> &
    Revisable<Order, Settings, ExternalIdTaken | OutOfStock, Change> & {
      /** Returns the origin and the currency of an order that names these records. */
      originOf(
        tenant: Tenant,
        named: References
      ): Effect.Effect<{ readonly origin: Origin; readonly currencyCode: string }, UnknownReferences | Unavailable>
      /** Fails if an order of the tenant has the external id. */
      refuseTaken(tenant: Tenant, externalId: string | undefined): Effect.Effect<void, ExternalIdTaken | Unavailable>
      /** Returns the order that was sent before with this external id, for the same consumer and grant. */
      sentBefore(
        tenant: Tenant,
        origin: Origin,
        externalId: string | undefined
      ): Effect.Effect<Order | undefined, Unavailable>
      /**
       * Writes an order and counts it. `complete` runs last, outside of the transaction, when only the commit can still
       * fail. It returns the sequence of the completed grant, if there is one: a grant has one order that is not
       * cancelled. The unit that a grant sold in a stock counts once. If it fails, no order is written. The write finishes even if its caller disconnects.
       */
      create<E = never>(
        tenant: Tenant,
        by: string,
        origin: Origin,
        settings: Settings,
        creation?: OrderCreation<E>
      ): Effect.Effect<Order, E | ExternalIdTaken | GrantHasOrder | OutOfStock | UnknownReferences | Unavailable>
    }
>()("usher/store/consumer/Orders") {
  static readonly layer = Layer.effect(Orders)(
    Effect.gen(function* () {
      const { sql, statements, find, list } = yield* make(declaration)
      const oneOfFew = yield* ConcurrencyLimit.make("orders", { most: ordersAtOnce, waitingMax: ordersMax })

      const refuseTaken = Effect.fn("Orders.refuseTaken")(function* (tenant: Tenant, externalId: string | undefined) {
        if (externalId === undefined) return
        const taken = yield* sql`
          select id from orders o where ${ofTenant(sql, tenant, "o")} and o.external_id = ${externalId}`
        if (taken.length > 0) return yield* new ExternalIdTaken()
      }, orUnavailable)

      const sentBefore = Effect.fn("Orders.sentBefore")(function* (
        tenant: Tenant,
        { consumerId, distributionId }: Origin,
        externalId: string | undefined
      ) {
        if (externalId === undefined || distributionId === null) return undefined
        const rows = yield* sql<Row>`
          select o.* from orders o
          where ${ofTenant(sql, tenant, "o")} and o.external_id = ${externalId} and o.consumer_id = ${consumerId}
            and o.distribution_id = ${distributionId} and o.grant_sequence is not null`
        return rows[0] && toOrder(rows[0])
      }, orUnavailable)

      return {
        originOf: makeOriginOf(sql),
        refuseTaken,
        sentBefore,
        create: makeCreate(sql, statements, oneOfFew),
        find,
        list,
        change: makeChange(sql, statements, oneOfFew)
      }
    })
  )
}

const orExternalIdTaken = orTaken((constraint) =>
  constraint === "orders_by_external_id" ? new ExternalIdTaken() : undefined
)

const orGrantHasOrder = orTaken((constraint) => (constraint === "orders_by_grant" ? new GrantHasOrder() : undefined))

/** Makes the transaction that writes a new order. */
const makeInsert = (sql: PgClient.PgClient, { insert }: Statements<Row, Order>) =>
  Effect.fnUntraced(
    function* <E>(
      tenant: Tenant,
      by: string,
      origin: Origin,
      settings: Settings,
      { complete = Effect.undefined, payment = unreported }: OrderCreation<E>,
      { take, keep }: Counting
    ) {
      const consumer = yield* held(sql, tenant, sql`c.id = ${origin.consumerId} and not c.archived`)
      if (consumer === undefined) return yield* new UnknownReferences({ problems: [unknownConsumer] })
      const stamp = yield* stampOf(by)
      const units = unitsOf(settings)
      const stocks = yield* stocksOf(sql, tenant, [...units.keys()], origin.distributionId)
      const { inStocks, others } = divided(units, stocks)
      const taken = yield* Stock.count(sql, tenant, stamp, none, needsOf(none, none, others))
      // The unit of a lapsed grant is with others.
      const isGranted = settings.status !== "CANCELLED" && !payment.grantLapsed
      const granted = new Map(isGranted && stocks.ofMechanism !== undefined ? [[stocks.ofMechanism, 1]] : [])
      const row = yield* insert(tenant, stamp, () => ({
        consumer_id: origin.consumerId,
        experience_id: origin.experienceId,
        sequence_id: origin.sequenceId,
        distribution_id: origin.distributionId,
        distribution_type: origin.distributionType,
        ...columnsOf(sql, settings, never, stamp.now),
        taken_units: sql.json(Object.fromEntries(taken)),
        stock_units: sql.json(Object.fromEntries(most(inStocks, granted))),
        payment_id: payment.paymentId ?? null,
        grant_lapsed: payment.grantLapsed
      }))
      yield* recount(sql, consumer, undefined, row)
      for (const [stockId, count] of inStocks) {
        yield* take(stockId, row.id, count - (granted.get(stockId) ?? 0), variantOf(stocks, stockId))
      }
      if (payment.grantLapsed) yield* takeIfFree(sql, row.id, stocks, inStocks, take)
      const grantSequence = yield* outside(sql, complete)
      if (grantSequence !== undefined) {
        const [former] = yield* sql`
          select 1 from orders o where ${ofTenant(sql, tenant, "o")} and o.distribution_id = ${origin.distributionId}
            and o.grant_sequence = ${grantSequence} and o.status = 'CANCELLED' limit 1`
        yield* sql`update orders set grant_sequence = ${grantSequence} where id = ${row.id}`
        // The grant's unit came back with its former order.
        const [stockId] = former === undefined ? [] : granted.keys()
        if (stockId !== undefined) yield* take(stockId, row.id, 1, variantOf(stocks, stockId))
      }
      yield* keep
      return toOrder(row)
    },
    sql.withTransaction,
    orExternalIdTaken,
    orGrantHasOrder,
    orUnavailable
  )

const makeCreate = (
  sql: PgClient.PgClient,
  statements: Statements<Row, Order>,
  oneOfFew: ConcurrencyLimit.ConcurrencyLimit
) => {
  const write = makeInsert(sql, statements)

  return Effect.fn("Orders.create")(
    <E>(tenant: Tenant, by: string, origin: Origin, settings: Settings, creation: OrderCreation<E> = {}) =>
      counting(sql, tenant, creation.countUnits)((units) => write(tenant, by, origin, settings, creation, units)),
    Effect.uninterruptible,
    oneOfFew,
    orUnavailable
  )
}

/** Makes the transaction that changes an order. */
const makeRevise = (sql: PgClient.PgClient, { lock, update }: Statements<Row, Order>) =>
  Effect.fnUntraced(
    function* <E>(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>,
      keepsUnits: boolean,
      { take, keep }: Counting
    ) {
      // The consumer is locked first, as in creating. Another lock order could deadlock.
      const ofOrder = sql`c.id = (select o.consumer_id from orders o where o.id = ${id} and ${ofTenant(sql, tenant, "o")})`
      const consumer = yield* held(sql, tenant, ofOrder)
      if (consumer === undefined) return yield* new RecordNotFound({ record: "Order" })
      const before = yield* lock(tenant, id)
      const present = settingsOf(before)
      const settings = yield* Effect.fromResult(revise(present))
      const stamp = yield* stampOf(by)
      const [was, now] = [unitsOf(present), unitsOf(settings)]
      const stocks = yield* stocksOf(sql, tenant, [...was.keys(), ...now.keys()], before.distribution_id)
      const had = unitsHeld(before, stocks)
      const [former, next] = [divided(was, stocks), divided(now, stocks)]
      // Without units of its own, the order returns none later either. Stocks decide themselves.
      const needs = needsOf(had.others, former.others, next.others)
      const taken = keepsUnits ? none : yield* Stock.count(sql, tenant, stamp, had.others, needs)
      const granted = settings.status === "CANCELLED" ? none : grantedOf(before, stocks)
      const needsOfStocks = needsOf(
        had.inStocks,
        most(former.inStocks, grantedOf(before, stocks)),
        most(most(next.inStocks, keptOfArchived(had, next, stocks)), granted)
      )
      const inStocks = new Map(had.inStocks)
      for (const { variantId: stockId, kept, more } of needsOfStocks) inStocks.set(stockId, kept + more)
      const row = yield* update(id, stamp, {
        ...columnsOf(sql, settings, momentsOf(before), stamp.now),
        taken_units: sql.json(Object.fromEntries(taken)),
        stock_units: sql.json(Object.fromEntries(inStocks))
      })
      yield* recount(sql, consumer, before, row)
      for (const { variantId: stockId, more, back } of needsOfStocks) {
        if (back > 0) yield* giveBack(sql, tenant, { orderId: id, stockId, units: back })
        yield* take(stockId, id, more, variantOf(stocks, stockId))
      }
      yield* keep
      return toOrder(row)
    },
    sql.withTransaction,
    orExternalIdTaken,
    orUnavailable
  )

const makeChange = (
  sql: PgClient.PgClient,
  statements: Statements<Row, Order>,
  oneOfFew: ConcurrencyLimit.ConcurrencyLimit
) => {
  const write = makeRevise(sql, statements)

  return Effect.fn("Orders.change")(
    <E>(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>,
      { keepsUnits = false, countUnits }: Change = {}
    ) => counting(sql, tenant, countUnits)((units) => write(tenant, id, by, revise, keepsUnits, units)),
    oneOfFew,
    orUnavailable
  )
}

/** Returns the units that an order has. Those of a variant that now belongs to a stock are the stock's. */
const unitsHeld = ({ taken_units: taken, stock_units: ofStocks }: Row, stocks: OrderStocks) => {
  const { inStocks, others } = divided(new Map(Object.entries(taken)), stocks)
  for (const [stockId, units] of Object.entries(ofStocks)) inStocks.set(stockId, (inStocks.get(stockId) ?? 0) + units)
  return { inStocks, others }
}

/**
 * Takes a free unit for an order whose grant had lapsed before it was paid: the unit of the grant is with others. Without
 * a free one, staff decide whether the order is refunded or fulfilled.
 */
const takeIfFree = (
  sql: PgClient.PgClient,
  orderId: string,
  stocks: OrderStocks,
  inStocks: Units,
  take: Counting["take"]
) =>
  Effect.gen(function* () {
    const { ofMechanism: stockId } = stocks
    if (stockId === undefined || inStocks.has(stockId)) return
    yield* take(stockId, orderId, 1, variantOf(stocks, stockId))
    yield* sql`
      update orders set stock_units = stock_units || jsonb_build_object(${stockId}::text, 1) where id = ${orderId}`
  }).pipe(Effect.catchTag("OutOfStock", () => Effect.void))

/** Returns the unit that a written order has in the stock of its mechanism for its grant. */
const grantedOf = (row: Row, { ofMechanism }: OrderStocks): Units => {
  if (row.grant_sequence === null || ofMechanism === undefined) return none
  return new Map(!row.grant_lapsed || (row.stock_units[ofMechanism] ?? 0) > 0 ? [[ofMechanism, 1]] : [])
}

/** Returns the larger number of units of each stock. */
const most = (some: Units, others: Units): Units =>
  new Map([...some, ...others].map(([id]) => [id, Math.max(some.get(id) ?? 0, others.get(id) ?? 0)]))

/** Returns a variant of the order that the stock has; the stock itself if the order names none. */
const variantOf = ({ byVariant }: OrderStocks, stockId: string): string =>
  [...byVariant].find(([, id]) => id === stockId)?.[0] ?? stockId

const none: Units = new Map()

const unreported: Payment = { paymentId: undefined, grantLapsed: false }

const never: Moments = { paidAt: null, fulfilledAt: null, cancelledAt: null }
