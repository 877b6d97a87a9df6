/**
 * The results of webhook deliveries: cursors, held notifications, and a log with every attempt of the last 30 days. The
 * results of a round are written in one transaction. A process that dies before it sends the round's notifications again.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { deliverySorts } from "../../domain/webhook/Webhook.ts"
import { deliveryDays } from "../../domain/organization/Retention.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { type DeliveryStatus, type LoggedAttempt, makeRecord, type Round } from "./Round.ts"
import { makeTakeMail, type WebhookOwner } from "./WebhookFailures.ts"

/** Deliveries that are removed in one statement. */
const removedAtOnce = 5_000

/** A delivery in the log. */
export interface LoggedDelivery {
  readonly id: string
  readonly eventId: string
  readonly type: string
  readonly status: DeliveryStatus
  readonly attempts: ReadonlyArray<LoggedAttempt>
  readonly body: string
  readonly createdAt: Millis
  readonly updatedAt: Millis
}

/** The log of a webhook. */
export const shape = listShape("webhook deliveries", "d", deliverySorts, { createdAt: "timestamptz" })

export class WebhookDeliveries extends Context.Service<
  WebhookDeliveries,
  {
    /** Records the results of a round. */
    record(round: Round, now: Millis): Effect.Effect<void, Unavailable>
    /**
     * Takes the webhook's turn for a mail. Undefined if the organization has no address for it, or had a mail about the
     * webhook within the last hour.
     */
    takeMail(webhookId: string, now: Millis): Effect.Effect<WebhookOwner | undefined, Unavailable>
    /** Returns a page of the webhook's log; empty if the webhook is not the tenant's. */
    list(
      tenant: Tenant,
      webhookId: string,
      query: PageQuery<keyof typeof shape.sorts>,
      filter: { readonly status?: DeliveryStatus | undefined }
    ): Effect.Effect<Page<LoggedDelivery>, PageRefused | Unavailable>
    /** Removes deliveries that are older than the log, at most some thousand. Returns how many. */
    removeOld(now: Millis): Effect.Effect<number, Unavailable>
  }
>()("usher/store/webhook/WebhookDeliveries") {
  static readonly layer = Layer.effect(WebhookDeliveries)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const readPage = yield* makeReadPage(shape, toDelivery)

      const list = Effect.fn("WebhookDeliveries.list")(function* (
        tenant: Tenant,
        webhookId: string,
        query: PageQuery<keyof typeof shape.sorts>,
        { status }: { readonly status?: DeliveryStatus | undefined }
      ) {
        return yield* readPage(tenant, query, {
          filter: { webhookId, status },
          fields: sql`d.*`,
          from: sql`webhook_deliveries d`,
          where: sql.and([
            sql`d.webhook_id = ${webhookId}`,
            sql`exists (select from webhooks where id = ${webhookId} and ${ofTenant(sql, tenant)})`,
            ...equal(sql, { "d.status": status })
          ])
        })
      }, orUnavailable)

      const removeOld = (now: Millis) =>
        sql`
          delete from webhook_deliveries where (webhook_id, event_id) in (
            select webhook_id, event_id from webhook_deliveries
            where created_at < ${new Date(now - deliveryDays * 86_400_000)} order by created_at limit ${removedAtOnce}
          ) returning 1`.pipe(
          Effect.map((rows) => rows.length),
          orUnavailable
        )

      return { record: makeRecord(sql, random), takeMail: makeTakeMail(sql), list, removeOld }
    })
  )
}

interface DeliveryRow {
  readonly id: string
  readonly event_id: string
  readonly type: string
  readonly status: DeliveryStatus
  readonly attempts: ReadonlyArray<LoggedAttempt>
  readonly body: string
  readonly created_at: Date
  readonly updated_at: Date
}

const toDelivery = (row: DeliveryRow): LoggedDelivery => ({
  id: row.id,
  eventId: row.event_id,
  type: row.type,
  status: row.status,
  attempts: row.attempts,
  body: row.body,
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime()
})
