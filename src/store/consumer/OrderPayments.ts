/** The orders that payments belong to: by grant, by the shop's name, and by the provider's id of the payment. */
import { Context, Effect } from "effect"
import type { Order } from "../../domain/consumer/Order.ts"
import type { Asked } from "../../domain/receiver/Meaning.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { type Row, settingsOf, toOrder } from "./OrderRows.ts"

/** An order, what has to be paid for it, and the payment that was reported for it. */
export interface PaidOrder {
  readonly order: Order
  /** Undefined if the order has neither a total nor items. */
  readonly asked: Asked | undefined
  readonly paymentId: string | undefined
}

interface OfGrant {
  readonly mechanismId: string
  readonly sequence: number
  readonly consumerId: string
}

export class OrderPayments extends Context.Service<
  OrderPayments,
  {
    /**
     * Returns the order of the grant that is not cancelled, or else the one with the external id, or else one that was
     * cancelled before it was paid; undefined if there is none.
     */
    ofGrant(tenant: Tenant, grant: OfGrant, externalId: string): Effect.Effect<PaidOrder | undefined, Unavailable>
    /** Returns the order of the payment; undefined if there is none. */
    ofPayment(tenant: Tenant, paymentId: string): Effect.Effect<PaidOrder | undefined, Unavailable>
    /** Notes the payment of an order. Returns false, and writes nothing, if the order has another one. */
    note(tenant: Tenant, orderId: string, paymentId: string): Effect.Effect<boolean, Unavailable>
  }
>()("usher/store/consumer/OrderPayments") {
  static readonly layer = onDatabase(OrderPayments, (sql) => {
    const ofGrant = Effect.fn("OrderPayments.ofGrant")(function* (
      tenant: Tenant,
      { mechanismId, sequence, consumerId }: OfGrant,
      externalId: string
    ) {
      const rows = yield* sql<Row>`
        select o.*, 1 as rank from orders o
        where ${ofTenant(sql, tenant, "o")} and o.distribution_id = ${mechanismId}
          and o.grant_sequence = ${sequence} and o.status <> 'CANCELLED'
        union all
        select o.*, 2 as rank from orders o where ${ofTenant(sql, tenant, "o")} and o.external_id = ${externalId}
        union all
        select o.*, 3 as rank from orders o
        where ${ofTenant(sql, tenant, "o")} and o.consumer_id = ${consumerId} and o.distribution_id = ${mechanismId}
          and o.grant_sequence = ${sequence} and o.status = 'CANCELLED' and o.paid_at is null
        order by rank limit 1`
      return rows[0] && toPaid(rows[0])
    }, orUnavailable)

    const ofPayment = Effect.fn("OrderPayments.ofPayment")(function* (tenant: Tenant, paymentId: string) {
      const rows = yield* sql<Row>`
        select o.* from orders o where ${ofTenant(sql, tenant, "o")} and o.payment_id = ${paymentId}
        order by o.created_at desc, o.id desc limit 1`
      return rows[0] && toPaid(rows[0])
    }, orUnavailable)

    const note = Effect.fn("OrderPayments.note")(function* (tenant: Tenant, orderId: string, paymentId: string) {
      const noted = yield* sql`
        update orders o set payment_id = ${paymentId}
        where o.id = ${orderId} and ${ofTenant(sql, tenant, "o")} and coalesce(o.payment_id, ${paymentId}) = ${paymentId}
        returning 1`
      return noted.length > 0
    }, orUnavailable)

    return { ofGrant, ofPayment, note }
  })
}

const toPaid = (row: Row): PaidOrder => {
  const order = toOrder(row)
  const isPriced = settingsOf(row).total !== undefined || order.items.length > 0
  return {
    order,
    asked: isPriced ? { amount: order.total, currencyCode: order.currencyCode } : undefined,
    paymentId: row.payment_id ?? undefined
  }
}
