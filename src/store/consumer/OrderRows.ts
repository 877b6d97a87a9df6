/**
 * The rows of `orders` as records. Fields for search and sorting have a column. The items, the given total and the
 * metadata are one JSON value.
 */
import type { PgClient } from "@effect/sql-pg"
import { Schema } from "effect"
import {
  momentsAt,
  type Moments,
  type Order,
  type OrderStatus,
  Settings,
  totalOf
} from "../../domain/consumer/Order.ts"
import { identityAndStamps, type RecordRow } from "../records/Rows.ts"

export interface Row extends RecordRow {
  readonly consumer_id: string
  readonly experience_id: string | null
  readonly sequence_id: string | null
  readonly distribution_id: string | null
  readonly distribution_type: Order["distributionType"]
  readonly external_id: string | null
  readonly number: string | null
  readonly status: OrderStatus
  readonly currency_code: string
  readonly record: object
  /** The units that the order holds from the stock of each variant. */
  readonly taken_units: { readonly [variantId: string]: number }
  /** The units that the order holds of each stock, those that its grant sold included. */
  readonly stock_units: { readonly [stockId: string]: number }
  /** The number of the event that made the order's grant; null without a grant. */
  readonly grant_sequence: bigint | null
  readonly placed_at: Date
  readonly paid_at: Date | null
  readonly fulfilled_at: Date | null
  readonly cancelled_at: Date | null
  /** The provider's id of the payment, if a receiver reported it. */
  readonly payment_id: string | null
  readonly grant_lapsed: boolean
}

/** The time at which the order reached each status. */
export const momentsOf = (row: Row): Moments => ({
  paidAt: row.paid_at?.getTime() ?? null,
  fulfilledAt: row.fulfilled_at?.getTime() ?? null,
  cancelledAt: row.cancelled_at?.getTime() ?? null
})

const encode = Schema.encodeSync(Settings)

/** Returns the columns derived from the settings and from the times at which the order reached earlier statuses. */
export const columnsOf = (sql: PgClient.PgClient, settings: Settings, moments: Moments, now: Date) => {
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
    cancelled_at: dateOf(cancelledAt)
  }
}

const dateOf = (at: number | null): Date | null => (at === null ? null : new Date(at))

const decode = Schema.decodeUnknownSync(Settings)

export const settingsOf = (row: Row): Settings =>
  decode({
    ...row.record,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...(row.number !== null && { number: row.number }),
    status: row.status,
    currencyCode: row.currency_code,
    placedAt: row.placed_at.toISOString()
  })

export const toOrder = (row: Row): Order => {
  const settings = settingsOf(row)
  const { items, metadata } = settings
  return {
    ...identityAndStamps(row),
    consumerId: row.consumer_id,
    experienceId: row.experience_id,
    sequenceId: row.sequence_id,
    distributionId: row.distribution_id,
    distributionType: row.distribution_type,
    externalId: row.external_id,
    number: row.number,
    status: row.status,
    currencyCode: row.currency_code,
    total: totalOf(settings),
    items: items.map((item) => ({ productId: null, productVariantId: null, ...item })),
    metadata: metadata ?? null,
    placedAt: row.placed_at.getTime(),
    ...momentsOf(row),
    grantLapsed: row.grant_lapsed
  }
}
