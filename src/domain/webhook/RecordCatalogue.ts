/**
 * The types of events about records that webhooks report, and the events of the tenant's journal that they come from.
 * Only the fields listed here leave it. Of consumers these are ids and names of fields.
 */
import type { RecordedChange, TenantEventType } from "../organization/TenantEvent.ts"

/** A type, and the fields that its `data` contains, by the name they have there. */
interface ReportedChange {
  readonly type: string
  /** The field of `data` that has the id of the record; absent if the fields name the record. */
  readonly id?: string
  /** Fields of the record, or of a record that describes it. */
  readonly fields?: { readonly [field: string]: string }
  /** True: `data` has the names of the fields that changed. */
  readonly namesChanged?: true
  /** The status that the order has reached with the event. */
  readonly status?: string
}

type Row = readonly [ReportedChange, ...ReadonlyArray<ReportedChange>]

const consumer = (type: string, more: Partial<ReportedChange> = {}): Row => [{ type, id: "consumer_id", ...more }]

const experience = (type: string): Row => [
  { type, id: "experience_id", fields: { name: "name", openAt: "open_at", closeAt: "close_at" } }
]

const stock = (type: string): Row => [{ type, id: "stock_id", fields: { name: "name", level: "level" } }]

const orderFields = {
  consumerId: "consumer_id",
  experienceId: "experience_id",
  sequenceId: "sequence_id",
  distributionId: "distribution_id",
  status: "status",
  currencyCode: "currency_code",
  total: "total"
}

const order = (type: string, status?: string): ReportedChange => ({
  type,
  id: "order_id",
  fields: orderFields,
  ...(status !== undefined && { status })
})

const reached = [
  order("order.paid", "PAID"),
  order("order.fulfilled", "FULFILLED"),
  order("order.cancelled", "CANCELLED")
] as const

/** The types of each event. Webhooks do not report other events. The place in a row is a part of ids: only append. */
export const reportedChanges: { readonly [T in TenantEventType]?: Row } = {
  "consumer.created": consumer("consumer.created"),
  "consumer.updated": consumer("consumer.updated", { namesChanged: true }),
  "consumer.archived": consumer("consumer.deleted"),
  "consumer.restored": consumer("consumer.created"),
  "experience.created": experience("experience.created"),
  "experience.activated": experience("experience.activated"),
  "experience.completed": experience("experience.completed"),
  "experience.archived": experience("experience.cancelled"),
  "experience.restored": experience("experience.created"),
  "order.created": [order("order.created"), ...reached],
  "order.updated": reached,
  "order.needs_attention": [
    {
      type: "order.needs_attention",
      fields: {
        orderId: "order_id",
        ...orderFields,
        grantLapsed: "grant_lapsed",
        reason: "reason",
        receiverId: "receiver_id",
        receivedEventId: "received_event_id"
      }
    }
  ],
  "stock.low": stock("stock.low"),
  "stock.empty": stock("stock.empty"),
  "stock.refilled": stock("stock.refilled"),
  "webhook.failed": [
    {
      type: "webhook.failed",
      id: "webhook_id",
      fields: { failedDeliveries: "failed_deliveries", eventId: "event_id", eventType: "event_type" }
    }
  ],
  "webhook.disabled": [{ type: "webhook.disabled", id: "webhook_id", fields: { disabledReason: "reason" } }]
}

const rows = Object.entries(reportedChanges) as ReadonlyArray<readonly [TenantEventType, Row]>

/** Returns the events of the tenant's journal that lead to one of the types. */
export const changesFor = (types: ReadonlyArray<string>): ReadonlyArray<TenantEventType> =>
  rows.filter(([, row]) => row.some(({ type }) => types.includes(type))).map(([event]) => event)

/** A notification's type with its data and its place among those of the event. */
export interface Report {
  readonly type: string
  readonly part: number
  readonly data: { readonly [name: string]: unknown }
}

/** Returns what an event is reported as, for an endpoint that subscribes to the types. */
export const reportsOf = (event: RecordedChange, types: ReadonlyArray<string>): ReadonlyArray<Report> =>
  (reportedChanges[event.type] ?? []).flatMap(({ type, id, fields = {}, namesChanged, status }, part) => {
    if (!types.includes(type) || (status !== undefined && event.after["status"] !== status)) return []
    const values = { ...event.after, ...event.context }
    return [
      {
        type,
        part,
        data: {
          ...(id !== undefined && { [id]: event.subjectId }),
          ...(namesChanged && { changed: event.changed }),
          ...Object.fromEntries(Object.entries(fields).map(([field, name]) => [name, values[field]]))
        }
      }
    ]
  })
