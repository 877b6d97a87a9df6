/**
 * The webhooks of an organization. A webhook's secret is shown when it is created and when it is rotated, and never
 * again. After a rotation both secrets sign until the overlap ends.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import { newSecret } from "../../domain/values/SigningSecret.ts"
import type { Settings, Webhook } from "../../domain/webhook/Webhook.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { RecordNotFound } from "../records/RecordNotFound.ts"
import type { Archivable, Changeable, Readable } from "../records/Records.ts"
import { stampOf } from "../records/Rows.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { beginWithNext, dropHeld, holdFailed, type ReplayStart, rewind } from "./Replays.ts"
import { type Base, base, columns, type Sort } from "./WebhookRecord.ts"
import { formerColumns, openedPresent, presentColumns } from "./WebhookSecrets.ts"

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
export type EnabledFrom = "cursor" | "now"

/** The events to send again: permanently failed deliveries, or all events from a start on. */
export type ReplayedFrom = "failed" | ReplayStart

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
interface Continuing {
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

export class Webhooks extends Context.Service<
  Webhooks,
  Readable<Webhook, Sort> & Changeable<Webhook, Settings> & Archivable<Webhook, never> & Secrets & Continuing
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
        ...makeContinuing(sql, records)
      }
    })
  )
}

const makeSecrets = Effect.fnUntraced(function* (sql: PgClient.PgClient, { statements }: Base) {
  const { insert, lock, update, find, show } = statements
  const random = yield* SecureRandom.SecureRandom
  const keyring = yield* CurrentKeyring

  const anySecret = Effect.map(random.randomBytes(32), newSecret)

  const create: Secrets["create"] = Effect.fn("Webhooks.create")(
    function* (tenant, by, settings, given) {
      const secret = given ?? (yield* anySecret)
      const row = yield* insert(tenant, yield* stampOf(by), (id) => ({
        ...columns.columnsOf(sql, settings),
        ...presentColumns(keyring, id, secret)
      }))
      yield* beginWithNext(sql, tenant, row.id)
      return { webhook: yield* show(row), secret }
    },
    sql.withTransaction,
    orUnavailable
  )

  const rotateSecret: Secrets["rotateSecret"] = Effect.fn("Webhooks.rotateSecret")(
    function* (tenant, id, by, overlapSeconds) {
      const former = yield* openedPresent(keyring, yield* lock(tenant, id))
      const secret = yield* anySecret
      const row = yield* update(id, yield* stampOf(by), {
        ...presentColumns(keyring, id, secret),
        ...formerColumns(keyring, id, former),
        former_secret_until: new Date((yield* Clock.currentTimeMillis) + overlapSeconds * 1_000)
      })
      return { webhook: yield* show(row), secret }
    },
    sql.withTransaction,
    orUnavailable
  )

  const target: Secrets["target"] = Effect.fn("Webhooks.target")(function* (tenant, id) {
    const row = yield* find(tenant, id)
    return { url: row.url, secret: yield* openedPresent(keyring, row) }
  }, orUnavailable)

  return { create, rotateSecret, target }
})

const makeContinuing = (sql: PgClient.PgClient, { statements, change }: Base): Continuing => {
  const { lock, update, show } = statements

  const enable: Continuing["enable"] = Effect.fn("Webhooks.enable")(
    function* (tenant, id, by, from) {
      yield* lock(tenant, id)
      if (from === "now") {
        yield* beginWithNext(sql, tenant, id)
        yield* dropHeld(sql, id)
      }
      return yield* show(yield* update(id, yield* stampOf(by), { disabled_reason: null, failing_since: null }))
    },
    sql.withTransaction,
    orUnavailable
  )

  const replay: Continuing["replay"] = Effect.fn("Webhooks.replay")(
    function* (tenant, id, from) {
      const row = yield* lock(tenant, id)
      yield* rewind(sql, tenant, id, from)
      return yield* show(row)
    },
    sql.withTransaction,
    orUnavailable
  )

  const replayFailed: Continuing["replayFailed"] = Effect.fn("Webhooks.replayFailed")(
    function* (tenant, id) {
      yield* lock(tenant, id)
      return (yield* holdFailed(sql, id, yield* Clock.currentTimeMillis)).length
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
