/**
 * The rows of `orders` as records. What is looked up or sorted by has a column; the items, what was said of the total, and
 * the metadata are one JSON value beside them.
 */
import { Schema } from "effect"
import { type Moments, type Order, type OrderStatus, Settings, totalOf } from "../../domain/consumer/Order.ts"

/** A row of `orders`. */
export interface Row {
  readonly id: string
  readonly organization_id: string
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
  /** What it took from the stock of variants. */
  readonly taken_units: { readonly [variantId: string]: number }
  readonly placed_at: Date
  readonly paid_at: Date | null
  readonly fulfilled_at: Date | null
  readonly cancelled_at: Date | null
  readonly created_at: Date
  readonly created_by: string
  readonly updated_at: Date
  readonly updated_by: string
  readonly archived: boolean
}

/** When the order became each status. */
export const momentsOf = (row: Row): Moments => ({
  paidAt: row.paid_at?.getTime() ?? null,
  fulfilledAt: row.fulfilled_at?.getTime() ?? null,
  cancelledAt: row.cancelled_at?.getTime() ?? null
})

const decode = Schema.decodeUnknownSync(Settings)

/** What was set. */
export const settingsOf = (row: Row): Settings =>
  decode({
    ...row.record,
    ...(row.external_id !== null && { externalId: row.external_id }),
    ...(row.number !== null && { number: row.number }),
    status: row.status,
    currencyCode: row.currency_code,
    placedAt: row.placed_at.toISOString()
  })

/** The order of a row. */
export const toOrder = (row: Row): Order => {
  const settings = settingsOf(row)
  const { items, metadata } = settings
  return {
    id: row.id,
    organizationId: row.organization_id,
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
    createdAt: row.created_at.getTime(),
    createdBy: row.created_by,
    updatedAt: row.updated_at.getTime(),
    updatedBy: row.updated_by,
    archived: row.archived
  }
}
