/**
 * The webhooks of an organization. A webhook's secret is shown when it is created and when it is rotated, and never
 * again. After a rotation both secrets sign until the overlap ends.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { newSecret } from "../../domain/values/SigningSecret.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { requestsAtOnceDefault, Settings, type Webhook, webhookSorts } from "../../domain/webhook/Webhook.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, type Changeable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { recordSecrets, type SecretColumns } from "../secrets/RecordSecrets.ts"
import { dropAll, putFailed } from "./PendingDeliveries.ts"
import * as Time from "../coordination/Time.ts"

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

/** Where an enabled webhook begins: with the missed events, or with the next one. */
type EnabledFrom = "cursor" | "now"

/** Where a replay begins: an instant, or the number that an event has in its journal. */
export type ReplayStart = Millis | { readonly sequence: number }

/** The events to send again: permanently failed deliveries, or all events from a start on. */
export type ReplaySelection = "failed" | ReplayStart

/** The operations that show or use a secret. */
interface Secrets {
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
  /** Returns the address and the secret, for a test event. */
  target(tenant: Tenant, id: string): Effect.Effect<Target, RecordNotFound | Unavailable>
}

/** The operations that set whether and where a webhook continues. */
interface Control {
  disable(tenant: Tenant, id: string, by: string): Effect.Effect<Webhook, RecordNotFound | Unavailable>
  enable(
    tenant: Tenant,
    id: string,
    by: string,
    from: EnabledFrom
  ): Effect.Effect<Webhook, RecordNotFound | Unavailable>
  /** Sends all events from this instant on again, or those of each journal from this number on. */
  replay(tenant: Tenant, id: string, from: ReplayStart): Effect.Effect<Webhook, RecordNotFound | Unavailable>
  /** Sends permanently failed deliveries again, at most some thousand. Returns their number. */
  replayFailed(tenant: Tenant, id: string): Effect.Effect<number, RecordNotFound | Unavailable>
}

interface Row extends SettingsRow, SecretColumns {
  readonly url: string
  readonly disabled_reason: Webhook["disabledReason"]
  readonly failing_since: Date | null
}

const shape = listShape("webhooks", "w", webhookSorts, { createdAt: "timestamptz", url: "text" })

type Sort = keyof typeof shape.sorts

const columns = makeSettingsColumns(Settings, { url: "url" })

const toWebhook = (row: Row): Webhook => {
  const { ordering, schedule, delivery, requestsAtOnce, ...settings } = columns.shownOf(row)
  return {
    ...identityAndStamps(row),
    ...settings,
    ordering: ordering ?? "consumer",
    schedule: schedule ?? "standard",
    delivery: delivery ?? "single",
    requestsAtOnce: requestsAtOnce ?? requestsAtOnceDefault,
    status: row.disabled_reason === null ? "ENABLED" : "DISABLED",
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.getTime() ?? null
  }
}

const declaration: Declaration<Row, Webhook, Sort> = {
  service: "Webhooks",
  record: "Webhook",
  table: "webhooks",
  alias: "w",
  recordsOf: each(toWebhook),
  list: { shape, searched: "w.url" }
}

/** The operations and statements that webhooks share with other records. */
const base = make(declaration)
type Base = Effect.Success<typeof base>

/** The secrets of webhooks. After a rotation the former one signs until the overlap ends. */
export const secrets = recordSecrets("webhook")

export class Webhooks extends Context.Service<
  Webhooks,
  Readable<Webhook, Sort> & Changeable<Webhook, Settings> & Archivable<Webhook, never> & Secrets & Control
>()("usher/store/webhook/Webhooks") {
  static readonly layer = Layer.effect(Webhooks)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const records = yield* base
      const { statements: _, change, ...operations } = records
      return {
        ...operations,
        change: (tenant, id, by, revise) =>
          change(tenant, id, by, (row) => Effect.sync(() => columns.columnsOf(sql, revise(columns.settingsOf(row))))),
        ...(yield* makeSecrets(sql, records)),
        ...makeControl(sql, records)
      }
    })
  )
}

const makeSecrets = Effect.fnUntraced(function* (sql: PgClient.PgClient, { statements }: Base) {
  const { insert, lock, update, find, show } = statements
  const random = yield* SecureRandom.SecureRandom
  const keyring = yield* CurrentKeyring

  const generateSecret = Effect.map(random.randomBytes(32), newSecret)

  const create: Secrets["create"] = Effect.fn("Webhooks.create")(
    function* (tenant, by, settings, given) {
      const secret = given ?? (yield* generateSecret)
      const row = yield* insert(tenant, yield* stampOf(by), (id) => ({
        ...columns.columnsOf(sql, settings),
        ...secrets.presentColumns(keyring, id, secret)
      }))
      yield* beginWithNext(sql, tenant, row.id)
      return { webhook: yield* show(row), secret }
    },
    sql.withTransaction,
    orUnavailable
  )

  const rotateSecret: Secrets["rotateSecret"] = Effect.fn("Webhooks.rotateSecret")(
    function* (tenant, id, by, overlapSeconds) {
      const former = yield* secrets.openedPresent(keyring, yield* lock(tenant, id))
      const secret = yield* generateSecret
      const row = yield* update(id, yield* stampOf(by), {
        ...secrets.presentColumns(keyring, id, secret),
        ...secrets.formerColumns(keyring, id, former),
        former_secret_until: new Date((yield* Time.serverNow) + overlapSeconds * 1_000)
      })
      return { webhook: yield* show(row), secret }
    },
    sql.withTransaction,
    orUnavailable
  )

  const target: Secrets["target"] = Effect.fn("Webhooks.target")(function* (tenant, id) {
    const row = yield* find(tenant, id)
    return { url: row.url, secret: yield* secrets.openedPresent(keyring, row) }
  }, orUnavailable)

  return { create, rotateSecret, target }
})

const makeControl = (sql: PgClient.PgClient, { statements, change }: Base): Control => {
  const { lock, update, show } = statements

  const enable: Control["enable"] = Effect.fn("Webhooks.enable")(
    function* (tenant, id, by, from) {
      yield* lock(tenant, id)
      if (from === "now") {
        yield* beginWithNext(sql, tenant, id)
        yield* dropAll(sql, id)
      }
      return yield* show(yield* update(id, yield* stampOf(by), { disabled_reason: null, failing_since: null }))
    },
    sql.withTransaction,
    orUnavailable
  )

  const replay: Control["replay"] = Effect.fn("Webhooks.replay")(
    function* (tenant, id, from) {
      const row = yield* lock(tenant, id)
      yield* rewind(sql, tenant, id, from)
      return yield* show(row)
    },
    sql.withTransaction,
    orUnavailable
  )

  const replayFailed: Control["replayFailed"] = Effect.fn("Webhooks.replayFailed")(
    function* (tenant, id) {
      yield* lock(tenant, id)
      return (yield* putFailed(sql, id, yield* Time.serverNow)).length
    },
    sql.withTransaction,
    orUnavailable
  )

  return {
    disable: (tenant, id, by) => change(tenant, id, by, () => Effect.succeed({ disabled_reason: "ADMIN_ACTION" })),
    enable,
    replay,
    replayFailed
  }
}

/** Moves the cursors of a webhook to the present. Call it in the transaction that creates or enables the webhook. */
const beginWithNext = (sql: PgClient.PgClient, tenant: Tenant, webhookId: string) => sql`
  insert into webhook_cursors (webhook_id, subject_id, sequence)
  select ${webhookId}::uuid, m.id, h.sequence from mechanisms m join mechanism_heads h on h.mechanism_id = m.id
  where ${ofTenant(sql, tenant, "m")}
  union all
  select ${webhookId}::uuid, t.organization_id, t.sequence from tenant_heads t where ${ofTenant(sql, tenant, "t")}
  on conflict (webhook_id, subject_id) do update set sequence = excluded.sequence`

/** Moves the webhook's cursors back to the last event before the start. */
const rewind = (sql: PgClient.PgClient, tenant: Tenant, id: string, from: ReplayStart) =>
  typeof from === "number" ? rewindToInstant(sql, tenant, id, from) : rewindToSequence(sql, id, from.sequence)

const rewindToSequence = (sql: PgClient.PgClient, id: string, sequence: number) => sql`
  update webhook_cursors set sequence = ${sequence - 1} where webhook_id = ${id} and sequence >= ${sequence}`

const rewindToInstant = (sql: PgClient.PgClient, tenant: Tenant, id: string, from: Millis) => sql`
  update webhook_cursors c set sequence = first.sequence - 1 from (
    select mechanism_id as subject_id, min(sequence) as sequence from journal
    where at >= ${new Date(from)} and mechanism_id in (select subject_id from webhook_cursors where webhook_id = ${id})
    group by mechanism_id
    union all
    select t.organization_id, min(t.sequence) from tenant_events t
    where ${ofTenant(sql, tenant, "t")} and t.at >= ${new Date(from)} group by t.organization_id
  ) first
  where c.webhook_id = ${id} and c.subject_id = first.subject_id and c.sequence >= first.sequence`

/**
 * Returns the webhook with this id, of any tenant; without an id all there are, at most two. For operators' commands,
 * which name a webhook by its id alone. Archived ones are left out.
 */
export const webhooksOfAnyTenant = Effect.fnUntraced(function* (id: string | undefined) {
  const sql = yield* SqlClient.SqlClient
  const isNamed = id === undefined ? sql`true` : sql`id = ${id}`
  const rows = yield* sql<{ readonly id: string; readonly organization_id: string; readonly mode: Mode }>`
    select id, organization_id, mode from webhooks where not archived and ${isNamed} limit 2`
  return rows.map((row) => ({
    id: row.id,
    tenant: { organizationId: row.organization_id, mode: row.mode } satisfies Tenant
  }))
}, orUnavailable)
