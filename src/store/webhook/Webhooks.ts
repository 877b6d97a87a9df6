/**
 * The webhooks of an organization. A webhook's secret is shown when it is created and when it is rotated, and never
 * again. After a rotation both secrets sign until the overlap ends.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings, type Webhook } from "../../domain/webhook/Webhook.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, type Changeable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { beginWithNext } from "./WebhookOutbox.ts"

/** A row of `webhooks`. */
interface Row extends SettingsRow {
  readonly url: string
  readonly secret: string
  readonly disabled_reason: Webhook["disabledReason"]
  readonly failing_since: Date | null
}

/** The list of webhooks. */
export const shape = listShape("webhooks", "w", { createdAt: "timestamptz", url: "text" })

const columns = makeSettingsColumns(Settings, { url: "url" })

const toWebhook = (row: Row): Webhook => {
  const { ordering, schedule, ...settings } = columns.shownOf(row)
  return {
    ...identityAndStamps(row),
    ...settings,
    ordering: ordering ?? "consumer",
    schedule: schedule ?? "standard",
    status: row.disabled_reason === null ? "ENABLED" : "DISABLED",
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.getTime() ?? null
  }
}

type Sort = keyof typeof shape.sorts

const declaration: Declaration<Row, Webhook, Sort> = {
  service: "Webhooks",
  record: "Webhook",
  table: "webhooks",
  alias: "w",
  recordsOf: each(toWebhook),
  list: { shape, searched: "w.url" }
}

/** A webhook with its secret, which is shown only once. */
export interface WithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/** The address and the secret of a webhook. */
export interface Target {
  readonly url: string
  readonly secret: string
}

/** Where a webhook that is enabled begins: with what it missed, or with the next event. */
export type EnabledFrom = "cursor" | "now"

export class Webhooks extends Context.Service<
  Webhooks,
  Readable<Webhook, Sort> &
    Changeable<Webhook, Settings> &
    Archivable<Webhook, never> & {
      /** Creates a webhook, which begins with the next event. `secret` is made if it is absent. */
      create(
        tenant: Tenant,
        by: string,
        settings: Settings,
        secret: string | undefined
      ): Effect.Effect<WithSecret, Unavailable>
      /** Replaces the secret. Until the overlap ends, the former one signs too. */
      rotateSecret(
        tenant: Tenant,
        id: string,
        by: string,
        overlapSeconds: number
      ): Effect.Effect<WithSecret, RecordNotFound | Unavailable>
      disable(tenant: Tenant, id: string, by: string): Effect.Effect<Webhook, RecordNotFound | Unavailable>
      enable(
        tenant: Tenant,
        id: string,
        by: string,
        from: EnabledFrom
      ): Effect.Effect<Webhook, RecordNotFound | Unavailable>
      /** Returns the address and the secret, for a test event. */
      target(tenant: Tenant, id: string): Effect.Effect<Target, RecordNotFound | Unavailable>
      /** Sends all events from this instant on again. */
      replay(tenant: Tenant, id: string, from: Millis): Effect.Effect<Webhook, RecordNotFound | Unavailable>
      /** Sends the deliveries that failed for good again, at most some thousand. Returns how many. */
      replayFailed(tenant: Tenant, id: string): Effect.Effect<number, RecordNotFound | Unavailable>
    }
>()("usher/store/webhook/Webhooks") {
  static readonly layer = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const { statements, change, ...operations } = yield* make(declaration)
      const { insert, lock, update, find, show } = statements

      const newSecret = Effect.map(random.randomBytes(32), (bytes) => `whsec_${Buffer.from(bytes).toString("base64")}`)

      const create = Effect.fn("Webhooks.create")(
        function* (tenant: Tenant, by: string, settings: Settings, given: string | undefined) {
          const secret = given ?? (yield* newSecret)
          const row = yield* insert(tenant, yield* stampOf(by), () => ({ ...columns.columnsOf(sql, settings), secret }))
          yield* beginWithNext(sql, tenant, row.id)
          return { webhook: yield* show(row), secret }
        },
        sql.withTransaction,
        orUnavailable
      )

      const rotateSecret = Effect.fn("Webhooks.rotateSecret")(
        function* (tenant: Tenant, id: string, by: string, overlapSeconds: number) {
          const row = yield* lock(tenant, id)
          const secret = yield* newSecret
          const until = new Date((yield* Clock.currentTimeMillis) + overlapSeconds * 1_000)
          const changed = { secret, former_secret: row.secret, former_secret_until: until }
          return { webhook: yield* show(yield* update(id, yield* stampOf(by), changed)), secret }
        },
        sql.withTransaction,
        orUnavailable
      )

      const disable = (tenant: Tenant, id: string, by: string) =>
        change(tenant, id, by, () => Effect.succeed({ disabled_reason: "ADMIN_ACTION" }))

      const enable = Effect.fn("Webhooks.enable")(
        function* (tenant: Tenant, id: string, by: string, from: EnabledFrom) {
          yield* lock(tenant, id)
          if (from === "now") {
            yield* beginWithNext(sql, tenant, id)
            yield* sql`delete from webhook_held where webhook_id = ${id}`
          }
          return yield* show(yield* update(id, yield* stampOf(by), { disabled_reason: null, failing_since: null }))
        },
        sql.withTransaction,
        orUnavailable
      )

      const target = Effect.fn("Webhooks.target")(function* (tenant: Tenant, id: string) {
        const { url, secret } = yield* find(tenant, id)
        return { url, secret }
      }, orUnavailable)

      const replay = Effect.fn("Webhooks.replay")(
        function* (tenant: Tenant, id: string, from: Millis) {
          const row = yield* lock(tenant, id)
          yield* rewind(sql, id, from)
          return yield* show(row)
        },
        sql.withTransaction,
        orUnavailable
      )

      const replayFailed = Effect.fn("Webhooks.replayFailed")(
        function* (tenant: Tenant, id: string) {
          yield* lock(tenant, id)
          return (yield* holdFailed(sql, id, yield* Clock.currentTimeMillis)).length
        },
        sql.withTransaction,
        orUnavailable
      )

      return {
        ...operations,
        create,
        change: (tenant, id, by, revise) =>
          change(tenant, id, by, (row) => Effect.sync(() => columns.columnsOf(sql, revise(columns.settingsOf(row))))),
        rotateSecret,
        disable,
        enable,
        target,
        replay,
        replayFailed
      }
    })
  )
}

/** Deliveries that are sent again by one request. */
const replayedMax = 10_000

/** Moves the webhook's cursors back to the last event before the instant. */
const rewind = (sql: PgClient.PgClient, id: string, from: Millis) => sql`
  update webhook_cursors c set sequence = first.sequence - 1 from (
    select mechanism_id, min(sequence) as sequence from journal
    where at >= ${new Date(from)} and mechanism_id in (select mechanism_id from webhook_cursors where webhook_id = ${id})
    group by mechanism_id
  ) first
  where c.webhook_id = ${id} and c.mechanism_id = first.mechanism_id and c.sequence >= first.sequence`

/** Holds the failed deliveries again, each in a lane of its own, since the events after it have been delivered. */
const holdFailed = (sql: PgClient.PgClient, id: string, now: Millis) => sql`
  insert into webhook_held (webhook_id, mechanism_id, sequence, part, event_id, type, lane, body, attempts, retry_at)
  select webhook_id, (body::jsonb -> 'data' ->> 'distribution_id')::uuid, (body::jsonb ->> 'sequence')::int8, 0, event_id,
    type, event_id, body, 0, ${new Date(now)}
  from webhook_deliveries where webhook_id = ${id} and status = 'FAILED' order by created_at limit ${replayedMax}
  on conflict do nothing
  returning 1`
