/**
 * The orders. What a consumer has ordered in all is kept with the consumer, in the transaction that changes it; orders that
 * were cancelled do not count. Changes to the orders of one consumer come one after the other.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { toText } from "../domain/Amount.ts"
import type { Tenant } from "../domain/Ids.ts"
import { momentsAt, type Moments, type Order, type OrderStatus, Settings, totalOf } from "../domain/Order.ts"
import { notification } from "./Invalidations.ts"
import type { Unavailable } from "./Journal.ts"
import { makeOriginOf, type Origin, type References, unknownConsumer, UnknownReferences } from "./OrderOrigins.ts"
import { type Counted, momentsOf, type Row, settingsOf, toOrder } from "./OrderRows.ts"
import { type ListShape, page, type Page, type PageQuery, type PageRefused, plan } from "./Pagination.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { tellConsumersChanged } from "./SequenceAccess.ts"
import { orUnavailable } from "./SqlFailure.ts"
import * as Search from "./Search.ts"

/** Another order of the tenant has this external id. Nothing was written. 409 */
export class ExternalIdTaken extends Schema.TaggedError<ExternalIdTaken>()("ExternalIdTaken", {}) {}

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
    create(
      tenant: Tenant,
      by: string,
      origin: Origin,
      settings: Settings
    ): Effect.Effect<Order, ExternalIdTaken | UnknownReferences | Unavailable>
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
    ): Effect.Effect<Order, E | ExternalIdTaken | RecordNotFound | Unavailable>
  }
>()("usher/store/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom

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
          total: toText(totalOf(settings)),
          record: sql.json(record),
          placed_at: new Date(settings.placedAt),
          paid_at: dateOf(paidAt),
          fulfilled_at: dateOf(fulfilledAt),
          cancelled_at: dateOf(cancelledAt),
          updated_at: now
        }
      }

      /** Counts an order with its consumer, whose row is locked, as it is now instead of as it was; tells every process. */
      const recount = Effect.fnUntraced(function* (before: Counted | undefined, { consumer_id, ...now }: Row) {
        const [was, is] = [valueOf(before), valueOf(now)]
        if (was === is && (is === null || before?.placed_at.getTime() === now.placed_at.getTime())) return
        yield* sql`
          update consumers set
            order_count = order_count + ${(is === null ? 0 : 1) - (was === null ? 0 : 1)}::int,
            total_order_value = total_order_value + ${is ?? "0"}::numeric - ${was ?? "0"}::numeric,
            last_order_at = (
              select max(placed_at) from orders where consumer_id = consumers.id and status <> 'CANCELLED'
            )
          where id = ${consumer_id}`
        yield* tellConsumersChanged(sql, [consumer_id])
        yield* sql`
          select ${notification(sql, "consumer", sql`organization_id || ' ' || mode || ' ' || id`)}
          from consumers where id = ${consumer_id}`
      })

      const create = Effect.fn("Orders.create")(
        function* (tenant: Tenant, by: string, origin: Origin, settings: Settings) {
          const { organizationId, mode } = tenant
          // Locked before anything is read of it or of its orders, so that two orders at once are both counted.
          const consumers = yield* sql`
            select id from consumers
            where id = ${origin.consumerId} and organization_id = ${organizationId} and mode = ${mode} and not archived
            for no key update`
          if (consumers.length === 0) return yield* new UnknownReferences({ problems: [unknownConsumer] })
          const now = new Date(yield* Clock.currentTimeMillis)
          const rows = yield* sql<Row>`
            insert into orders ${sql.insert({
              id: yield* random.uuidV7(),
              organization_id: organizationId,
              mode,
              consumer_id: origin.consumerId,
              experience_id: origin.experienceId,
              sequence_id: origin.sequenceId,
              distribution_id: origin.distributionId,
              distribution_type: origin.distributionType,
              ...columnsOf(settings, never, now),
              created_at: now,
              created_by: by,
              updated_by: by
            })} returning *`
          yield* recount(undefined, rows[0]!)
          return toOrder(rows[0]!)
        },
        sql.withTransaction,
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
        const now = yield* Clock.currentTimeMillis
        const filter = { status, consumerId, experienceId, distributionId }
        const planned = yield* Effect.fromResult(plan(shape, query, { tenant, filter }, now))
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
          yield* sql`
            select c.id from orders o join consumers c on c.id = o.consumer_id
            where o.id = ${id} and ${ofTenant(tenant)} for no key update of c`
          const before = yield* Effect.flatMap(
            sql<Row>`select o.* from orders o where o.id = ${id} and ${ofTenant(tenant)} for update`,
            one
          )
          const settings = yield* Effect.fromResult(revise(settingsOf(before)))
          const now = new Date(yield* Clock.currentTimeMillis)
          const columns = { ...columnsOf(settings, momentsOf(before), now), updated_by: by }
          const rows = yield* sql<Row>`update orders set ${sql.update(columns)} where id = ${id} returning *`
          yield* recount(before, rows[0]!)
          return toOrder(rows[0]!)
        },
        sql.withTransaction,
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

/** What the order adds to its consumer's total; null: it does not count. */
const valueOf = (order: Counted | undefined): string | null =>
  order === undefined || order.status === "CANCELLED" ? null : order.total

const never: Moments = { paidAt: null, fulfilledAt: null, cancelledAt: null }

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))

const encode = Schema.encodeSync(Settings)
