/**
 * The places of a mechanism in an order of its kind, from the `places` projection: bookings by their slots, bids as they
 * would win. An index has each order, so a page costs the same however many places there are.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { bidSorts, bookingSorts } from "../../domain/mechanism/PlaceFields.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { currentPlaces, ofMechanism } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { beginsIn, belonging, type ConsumerPlace, type Span, toConsumerPlace, withConsumers } from "./Places.ts"

/** The list of an appointment's bookings. All instants have one length, so their text sorts as they do. */
export const bookingShape = listShape(
  "bookings",
  "p",
  bookingSorts,
  { startTime: { expression: "p.start_time", type: "text" } },
  { id: "p.consumer_id" }
)

/** The list of an auction's bids. `bidOrder` is the sort key of the rules: see `orderOf` in `domain/auction`. */
export const bidShape = listShape(
  "bids",
  "p",
  bidSorts,
  { rank: { expression: "p.bid_order", type: "numeric" } },
  { id: "p.consumer_id" }
)

/** The filters of a list of bookings. */
interface BookingFilter {
  readonly status?: string | undefined
  /** Only bookings whose slot begins then. */
  readonly begins?: Span | undefined
}

type List<Sort extends string, Filter> = (
  tenant: Tenant,
  mechanismId: string,
  query: PageQuery<Sort>,
  filter: Filter
) => Effect.Effect<Page<ConsumerPlace>, PageRefused | Unavailable>

export class OrderedPlaces extends Context.Service<
  OrderedPlaces,
  {
    /** Returns the bookings of an appointment. None if it is not the tenant's. */
    readonly bookings: List<keyof typeof bookingShape.sorts, BookingFilter>
    /** Returns the bids of an auction, without those of denied bidders. None if it is not the tenant's. */
    readonly bids: List<keyof typeof bidShape.sorts, { readonly status?: string | undefined }>
  }
>()("usher/store/mechanism/OrderedPlaces") {
  static readonly layer = Layer.effect(OrderedPlaces)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const readBookings = yield* makeReadPage(bookingShape, toConsumerPlace)
      const readBids = yield* makeReadPage(bidShape, toConsumerPlace)

      const bookings = Effect.fn("OrderedPlaces.bookings")(function* (
        tenant: Tenant,
        mechanismId: string,
        query: PageQuery<keyof typeof bookingShape.sorts>,
        { status, begins }: BookingFilter
      ) {
        yield* currentPlaces(sql, ofMechanism(sql, mechanismId))
        return yield* readBookings(tenant, query, {
          ...withConsumers(sql, tenant),
          filter: { mechanismId, status, from: begins?.from.toString(), to: begins?.to.toString() },
          where: sql.and([
            ...belonging(sql, tenant, mechanismId),
            ...equal(sql, { "p.status": status }),
            sql`p.start_time is not null`,
            ...(begins === undefined ? [] : [beginsIn(sql, begins)])
          ])
        })
      }, orUnavailable)

      const bids = Effect.fn("OrderedPlaces.bids")(function* (
        tenant: Tenant,
        mechanismId: string,
        query: PageQuery<keyof typeof bidShape.sorts>,
        { status }: { readonly status?: string | undefined }
      ) {
        yield* currentPlaces(sql, ofMechanism(sql, mechanismId))
        return yield* readBids(tenant, query, {
          ...withConsumers(sql, tenant),
          filter: { mechanismId, status },
          where: sql.and([
            ...belonging(sql, tenant, mechanismId),
            ...equal(sql, { "p.status": status }),
            sql`p.bid_order is not null and p.status <> 'DENIED'`
          ])
        })
      }, orUnavailable)

      return { bookings, bids }
    })
  )
}
