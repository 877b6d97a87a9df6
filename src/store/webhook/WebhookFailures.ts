/** Reports a failing webhook to its organization: an event for its other webhooks, and a mail. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { failureRecipientsMax } from "../../domain/webhook/Webhook.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofSameTenant } from "../records/Tenancy.ts"
import type { Held } from "./OutboxRows.ts"

/** Between two mails about one webhook. */
export const mailIntervalMillis = 3_600_000

/** The addresses for mail about a webhook. */
export interface WebhookOwner {
  readonly tenant: Tenant
  /** The organization's address for operations; without one those of the admins of its dashboard. At least one. */
  readonly to: ReadonlyArray<string>
  /** The host of the webhook's address. */
  readonly host: string
}

/**
 * Records the permanently failed deliveries of a round, as one event. Failed notifications of failures are left out,
 * because two failing webhooks would report each other forever.
 */
export const noteFailed = (
  sql: PgClient.PgClient,
  webhookId: string,
  results: ReadonlyArray<{ readonly held: Held; readonly status: string }>,
  now: Millis
): Effect.Effect<unknown, SqlError> => {
  const failed = results.filter(({ status, held }) => status === "FAILED" && !held.type.startsWith("webhook."))
  const first = failed[0]?.held
  if (first === undefined) return Effect.void
  const after = { failedDeliveries: failed.length, eventId: first.id, eventType: first.type }
  return sql`
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    select w.organization_id, w.mode, ${new Date(now)}, 'webhook.failed', 'system', w.id,
      ${sql.json({ changed: [], before: {}, after })}
    from webhooks w where w.id = ${webhookId}`
}

/**
 * Creates the function that takes the webhook's turn for a mail. Undefined if the organization has no address for it, or
 * had a mail about the webhook within the last hour.
 */
export const makeTakeMail = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (webhookId: string, now: Millis) {
    const rows = yield* sql<OwnerRow>`
      with found as (
        select w.id, case when o.settings ->> 'operationsEmail' is not null then array[o.settings ->> 'operationsEmail'] else array(
          select p.email from people p
          where ${ofSameTenant(sql, "p", "w")} and p.role = 'admin' and not p.archived
          order by p.created_at, p.id limit ${failureRecipientsMax}
        ) end as addresses
        from webhooks w join organizations o on o.id = w.organization_id where w.id = ${webhookId}
      )
      update webhooks w set mailed_at = ${new Date(now)} from found
      where w.id = found.id and cardinality(found.addresses) > 0
        and (w.mailed_at is null or w.mailed_at <= ${new Date(now - mailIntervalMillis)})
      returning w.organization_id, w.mode, w.url, found.addresses`
    return rows[0] && toOwner(rows[0])
  }, orUnavailable)

interface OwnerRow {
  readonly organization_id: string
  readonly mode: Mode
  readonly url: string
  readonly addresses: ReadonlyArray<string>
}

const toOwner = ({ organization_id, mode, url, addresses }: OwnerRow): WebhookOwner => ({
  tenant: { organizationId: organization_id, mode },
  to: addresses,
  host: URL.parse(url)?.host ?? ""
})
