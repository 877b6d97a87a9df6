/** The messages that Usher sent, by the id that their provider gave them, and what the provider reported about them. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { type Channel, MessageStatus } from "../../domain/receiver/Meaning.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** Days for which a message is remembered. Reports come within a few. */
export const keptDays = 90

/** The statuses from the least telling to the most. */
const statuses = [...MessageStatus.literals]

export class SentMessages extends Context.Service<
  SentMessages,
  {
    /** Remembers a message by the id that its provider gave it. */
    sent(tenant: Tenant, channel: Channel, messageId: string): Effect.Effect<void, Unavailable>
    /**
     * Records what the provider reports about the message with one of these ids. A report never replaces a more telling
     * one. Returns false if no such message of the tenant is remembered.
     */
    report(
      tenant: Tenant,
      channel: Channel,
      messageIds: ReadonlyArray<string>,
      status: MessageStatus
    ): Effect.Effect<boolean, Unavailable>
    /** Returns the status of a message; undefined if it is not remembered. */
    status(tenant: Tenant, channel: Channel, messageId: string): Effect.Effect<MessageStatus | undefined, Unavailable>
  }
>()("usher/store/message/SentMessages") {
  static readonly layer = Layer.effect(
    SentMessages,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const sent = Effect.fn("SentMessages.sent")(function* (
        { organizationId, mode }: Tenant,
        channel: Channel,
        messageId: string
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`
          insert into sent_messages (organization_id, mode, channel, message_id, status, sent_at, updated_at)
          values (${organizationId}, ${mode}, ${channel}, ${messageId}, 'SENT', ${now}, ${now})
          on conflict (organization_id, mode, channel, message_id) do nothing`
      }, orUnavailable)

      const report = Effect.fn("SentMessages.report")(function* (
        tenant: Tenant,
        channel: Channel,
        messageIds: ReadonlyArray<string>,
        status: MessageStatus
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const rank = sql`array_position(${statuses}::text[], status)`
        const rows = yield* sql`
          update sent_messages
          set status = case when ${rank} < ${statuses.indexOf(status) + 1} then ${status} else status end,
            updated_at = ${now}
          where ${ofTenant(sql, tenant)} and channel = ${channel} and message_id = any(${messageIds}::text[])
          returning 1`
        return rows.length > 0
      }, orUnavailable)

      const statusOf = Effect.fn("SentMessages.status")(function* (
        tenant: Tenant,
        channel: Channel,
        messageId: string
      ) {
        const rows = yield* sql<{ readonly status: MessageStatus }>`
          select status from sent_messages
          where ${ofTenant(sql, tenant)} and channel = ${channel} and message_id = ${messageId}`
        return rows[0]?.status
      }, orUnavailable)

      return { sent, report, status: statusOf }
    })
  )
}
