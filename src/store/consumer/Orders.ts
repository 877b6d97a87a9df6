/**
 * The orders. What a consumer has ordered in all is kept with the consumer (`ConsumerTotals`), and what is left of variants
 * with these (`Stock`), in the transaction that changes it. Changes to the orders of one consumer come one after the other.
 * An order locks its organization, then its consumer, then itself, and its variants last.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import type { Tenant } from "../../domain/values/Ids.ts"
import {
  momentsAt,
  type Moments,
  type Order,
  type OrderStatus,
  Settings,
  totalOf
} from "../../domain/consumer/Order.ts"
import { needsOf, type OutOfStock, type Units, unitsOf } from "../../domain/catalogue/Stock.ts"
import { held, recount } from "./ConsumerTotals.ts"
import * as FewAtOnce from "../postgres/FewAtOnce.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeOriginOf, type Origin, type References, unknownConsumer, UnknownReferences } from "./OrderOrigins.ts"
import { momentsOf, type Row, settingsOf, toOrder } from "./OrderRows.ts"
import { type ListShape, makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as Search from "../records/Search.ts"
import * as Stock from "../catalogue/Stock.ts"

/** Another order of the tenant has this external id. Nothing was written. 409 */
export class ExternalIdTaken extends Schema.TaggedError<ExternalIdTaken>()("ExternalIdTaken", {}) {}

/**
 * Orders that are written at once. They hold a connection while they wait for a variant, or for a grant that is completed,
 * and entries need connections too.
 */
const ordersAtOnce = 4

/** Orders that wait or are being written; beyond it they are better told. */
const ordersMax = 1_000

/** What a list of orders can be narrowed to. */
export interface OrderFilter {
  readonly status?: OrderStatus | undefined
  readonly consumerId?: string | undefined
  readonly experienceId?: string | undefined
  readonly distributionId?: string | undefined
}

/** The list of orders. */
export const shape = {
  name: "orders",
  sorts: {
    createdAt: { expression: "o.created_at", type: "timestamptz" },
    updatedAt: { expression: "o.updated_at", type: "timestamptz" },
    total: { expression: "o.total", type: "numeric" }
  },
  id: { expression: "o.id", type: "uuid" }
} as const satisfies ListShape<"createdAt" | "updatedAt" | "total">

/** What is searched; the index is over the very same. */
const searched = "(coalesce(o.external_id, '') || ' ' || coalesce(o.number, ''))"

export class Orders extends Context.Service<
  Orders,
  {
    /** Where an order that names this comes from, and the currency that holds there. */
    originOf(
      tenant: Tenant,
      named: References
    ): Effect.Effect<{ readonly origin: Origin; readonly currencyCode: string }, UnknownReferences | Unavailable>
    /** Fails if an order of the tenant has the external id. */
    refuseTaken(tenant: Tenant, externalId: string | undefined): Effect.Effect<void, ExternalIdTaken | Unavailable>
    /**
     * Writes an order and counts it. `complete` is what else has to succeed, if anything: it comes last, when nothing but the commit can
     * fail any more, and outside of the transaction. The order is written to its end although its caller has gone.
     */
    create<E = never>(
      tenant: Tenant,
      by: string,
      origin: Origin,
      settings: Settings,
      complete?: Effect.Effect<unknown, E>
    ): Effect.Effect<Order, E | ExternalIdTaken | OutOfStock | UnknownReferences | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Order, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: OrderFilter
    ): Effect.Effect<Page<Order>, PageRefused | Unavailable>
    /** Replaces the settings by what `revise` makes of them, unless it refuses; nobody else changes them meanwhile. */
    change<E>(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>
    ): Effect.Effect<Order, E | ExternalIdTaken | OutOfStock | RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const oneOfFew = yield* FewAtOnce.make("orders", { most: ordersAtOnce, waitingMax: ordersMax })

      const ofTenant = (tenant: Tenant) => sql`o.organization_id = ${tenant.organizationId} and o.mode = ${tenant.mode}`

      const one = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? notFound : Effect.succeed(rows[0]))

      const refuseTaken = Effect.fn("Orders.refuseTaken")(function* (tenant: Tenant, externalId: string | undefined) {
        if (externalId === undefined) return
        const taken = yield* sql`select id from orders o where ${ofTenant(tenant)} and o.external_id = ${externalId}`
        if (taken.length > 0) return yield* new ExternalIdTaken()
      }, orUnavailable)

      /** The columns that follow from the settings and what was before; what has no column of its own is JSON. */
      const columnsOf = (settings: Settings, moments: Moments, now: Date) => {
        const { externalId = null, number = null, status, currencyCode, placedAt: _, ...record } = encode(settings)
        const { paidAt, fulfilledAt, cancelledAt } = momentsAt(moments, status, now.getTime())
        return {
          external_id: externalId,
          number,
          status,
          currency_code: currencyCode,
          total: totalOf(settings),
          record: sql.json(record),
          placed_at: new Date(settings.placedAt),
          paid_at: dateOf(paidAt),
          fulfilled_at: dateOf(fulfilledAt),
          cancelled_at: dateOf(cancelledAt),
          updated_at: now
        }
      }

      /** What a transaction waits for without being part of it. */
      const outside = <E>(effect: Effect.Effect<unknown, E>) =>
        Effect.updateContext(effect, (context: Context.Context<never>) => Context.omit(sql.transactionService)(context))

      const create = Effect.fn("Orders.create")(
        function* <E>(
          tenant: Tenant,
          by: string,
          origin: Origin,
          settings: Settings,
          complete: Effect.Effect<unknown, E> = Effect.void
        ) {
          const consumer = yield* held(sql, tenant, sql`c.id = ${origin.consumerId} and not c.archived`)
          if (consumer === undefined) return yield* new UnknownReferences({ problems: [unknownConsumer] })
          const now = new Date(yield* Clock.currentTimeMillis)
          const needs = needsOf(none, none, unitsOf(settings))
          const taken = yield* Stock.count(sql, tenant, { by, now }, none, needs)
          const rows = yield* sql<Row>`
            insert into orders ${sql.insert({
              id: yield* random.uuidV7(),
              organization_id: tenant.organizationId,
              mode: tenant.mode,
              consumer_id: origin.consumerId,
              experience_id: origin.experienceId,
              sequence_id: origin.sequenceId,
              distribution_id: origin.distributionId,
              distribution_type: origin.distributionType,
              ...columnsOf(settings, never, now),
              taken_units: sql.json(Object.fromEntries(taken)),
              created_at: now,
              created_by: by,
              updated_by: by
            })} returning *`
          yield* recount(sql, consumer, undefined, rows[0]!)
          yield* outside(complete)
          return toOrder(rows[0]!)
        },
        sql.withTransaction,
        Effect.uninterruptible,
        oneOfFew,
        orTaken,
        orUnavailable
      )

      const find = Effect.fn("Orders.find")(function* (tenant: Tenant, id: string) {
        return toOrder(
          yield* Effect.flatMap(sql<Row>`select o.* from orders o where o.id = ${id} and ${ofTenant(tenant)}`, one)
        )
      }, orUnavailable)

      const list = Effect.fn("Orders.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof shape.sorts>,
        { status, consumerId, experienceId, distributionId }: OrderFilter
      ) {
        const filter = { status, consumerId, experienceId, distributionId }
        const planned = yield* plan(shape, query, { tenant, filter })
        const conditions = [ofTenant(tenant)]
        if (status !== undefined) conditions.push(sql`o.status = ${status}`)
        if (consumerId !== undefined) conditions.push(sql`o.consumer_id = ${consumerId}`)
        if (experienceId !== undefined) conditions.push(sql`o.experience_id = ${experienceId}`)
        if (distributionId !== undefined) conditions.push(sql`o.distribution_id = ${distributionId}`)
        const rows = yield* Search.rows<Row>(sql, planned, {
          fields: sql`o.*`,
          from: sql`orders o`,
          where: sql.and(conditions),
          sought: Search.textSought(sql, { tenant, row: "o", text: searched }, query.search)
        })
        return page(planned, rows, toOrder)
      }, orUnavailable)

      const change = Effect.fn("Orders.change")(
        function* <E>(
          tenant: Tenant,
          id: string,
          by: string,
          revise: (settings: Settings) => Result.Result<Settings, E>
        ) {
          // The consumer first, as in creating: two who lock in different orders wait for each other for ever.
          const ofOrder = sql`c.id = (select o.consumer_id from orders o where o.id = ${id} and ${ofTenant(tenant)})`
          const consumer = yield* held(sql, tenant, ofOrder)
          if (consumer === undefined) return yield* notFound
          const before = yield* Effect.flatMap(
            sql<Row>`select o.* from orders o where o.id = ${id} and ${ofTenant(tenant)} for update`,
            one
          )
          const present = settingsOf(before)
          const settings = yield* Effect.fromResult(revise(present))
          const now = new Date(yield* Clock.currentTimeMillis)
          const had = new Map(Object.entries(before.taken_units))
          const needs = needsOf(had, unitsOf(present), unitsOf(settings))
          const taken = yield* Stock.count(sql, tenant, { by, now }, had, needs)
          const columns = {
            ...columnsOf(settings, momentsOf(before), now),
            taken_units: sql.json(Object.fromEntries(taken)),
            updated_by: by
          }
          const rows = yield* sql<Row>`update orders set ${sql.update(columns)} where id = ${id} returning *`
          yield* recount(sql, consumer, before, rows[0]!)
          return toOrder(rows[0]!)
        },
        sql.withTransaction,
        oneOfFew,
        orTaken,
        orUnavailable
      )

      return { originOf: makeOriginOf(sql), refuseTaken, create, find, list, change }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Order" }))

/** The only thing about an order that must be unique is its external id. */
const orTaken = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError, R>
): Effect.Effect<A, E | SqlError | ExternalIdTaken, R> =>
  Effect.catchIf(
    effect,
    (error): error is E & SqlError =>
      (error as SqlError)._tag === "SqlError" && (error as SqlError).reason._tag === "UniqueViolation",
    () => Effect.fail(new ExternalIdTaken())
  )

const none: Units = new Map()

const never: Moments = { paidAt: null, fulfilledAt: null, cancelledAt: null }

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))

const encode = Schema.encodeSync(Settings)
