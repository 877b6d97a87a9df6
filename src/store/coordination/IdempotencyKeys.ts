/**
 * The keys under which requests may be repeated. The first process that carries a request out claims its key. The key
 * then holds the answer for a day.
 *
 * A claim is a lease. Its holder extends it while it lives. If the holder dies, the next request with the key can be
 * carried out. The database's clock counts the lease, because all processes share it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { idempotencyKeyHours } from "../../domain/organization/Retention.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { fromStored, type Keyring, toStored } from "../secrets/Sealing.ts"
import * as Time from "./Time.ts"

/** How long a claim is valid unless it is extended. */
export const leaseSeconds = 30

/** A request that may be repeated. */
export interface RepeatableRequest {
  readonly tenant: Tenant
  readonly key: string
  /** A digest of the request. The key is valid for this request alone. */
  readonly fingerprint: Uint8Array
}

/** The first answer. Without a body, the request was answered but the content of the answer is not kept. */
export interface FirstAnswer {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: Uint8Array | undefined
  /** True if the body holds a secret. It is stored sealed, as the secret is. */
  readonly isSecret?: boolean
}

/** A request that its holder may carry out. */
export interface Claimed {
  readonly request: RepeatableRequest
  readonly claimId: string
}

/** The state of a request. */
export type Claim =
  | { readonly _tag: "Claimed"; readonly claimed: Claimed }
  | { readonly _tag: "UnderWay" }
  | { readonly _tag: "Answered"; readonly answer: FirstAnswer }
  /** The key belongs to another request. */
  | { readonly _tag: "Reused" }

export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /** Claims the request for the caller, unless it has been answered or another caller has claimed it. */
    claim(request: RepeatableRequest): Effect.Effect<Claim, Unavailable>
    /** Extends the claim by another lease. */
    extend(claimed: Claimed): Effect.Effect<void, Unavailable>
    /** Keeps the answer. Returns false if the claim had expired and another caller holds it now. */
    keep(claimed: Claimed, answer: FirstAnswer): Effect.Effect<boolean, Unavailable>
    /** Ends the claim without an answer. The same request may claim the key again. */
    release(claimed: Claimed): Effect.Effect<void, Unavailable>
    remove(claimed: Claimed): Effect.Effect<void, Unavailable>
  }
>()("usher/store/coordination/IdempotencyKeys") {
  static readonly layer = Layer.effect(IdempotencyKeys)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return makeKeys(sql, yield* CurrentKeyring)
    })
  )
}

const makeKeys = (sql: PgClient.PgClient, keyring: Keyring): IdempotencyKeys["Service"] => {
  const lease = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`

  const claim = Effect.fn("IdempotencyKeys.claim")(function* (request: RepeatableRequest) {
    const { tenant, key, fingerprint } = request
    const claimId = randomUUID()
    const now = yield* Time.serverNow
    const expiresAt = new Date(now + idempotencyKeyHours * 3_600_000)
    // If nothing is inserted and nothing is found, another process inserted the row at this moment. The request
    // is in progress.
    const rows = yield* sql<Row>`
        with claimed as (
          insert into idempotency_keys as k
            (organization_id, mode, key, fingerprint, claim_id, lease_until, created_at, expires_at)
          values (
            ${tenant.organizationId}, ${tenant.mode}, ${key}, ${fingerprint}, ${claimId}, ${lease},
            ${new Date(now)}, ${expiresAt}
          )
          on conflict (organization_id, mode, key) do update set
            fingerprint = excluded.fingerprint, claim_id = excluded.claim_id, lease_until = excluded.lease_until,
            created_at = excluded.created_at, expires_at = excluded.expires_at,
            status = null, content_type = null, body = null, sealed_body = null, sealed_by = null
          where k.expires_at <= ${new Date(now)}
            or (k.status is null and k.lease_until <= clock_timestamp() and k.fingerprint = excluded.fingerprint)
          returning k.*
        )
        select true as is_mine, fingerprint, status, content_type, body, sealed_body, sealed_by from claimed
        union all
        select false, fingerprint, status, content_type, body, sealed_body, sealed_by from idempotency_keys
        where ${ofTenant(sql, tenant)} and key = ${key}
          and not exists (select from claimed)`
    return claimOf(rows[0], { request, claimId }, keyring)
  }, orUnavailable)

  const ownRow = ({ request: { tenant, key }, claimId }: Claimed) => sql`
      ${ofTenant(sql, tenant)} and key = ${key}
        and claim_id = ${claimId} and status is null`

  const keep = Effect.fnUntraced(function* (claimed: Claimed, answer: FirstAnswer) {
    const rows =
      yield* sql`update idempotency_keys set ${sql.update(columnsOf(keyring, claimed, answer))} where ${ownRow(claimed)} returning 1`
    return rows.length > 0
  }, orUnavailable)

  return {
    claim,
    extend: (claimed) =>
      orUnavailable(Effect.asVoid(sql`update idempotency_keys set lease_until = ${lease} where ${ownRow(claimed)}`)),
    keep,
    release: (claimed) =>
      orUnavailable(
        Effect.asVoid(sql`update idempotency_keys set lease_until = clock_timestamp() where ${ownRow(claimed)}`)
      ),
    remove: (claimed) => orUnavailable(Effect.asVoid(sql`delete from idempotency_keys where ${ownRow(claimed)}`))
  }
}

/** The columns of an answer. */
const columnsOf = (
  keyring: Keyring,
  { request }: Claimed,
  { status, contentType, body, isSecret = false }: FirstAnswer
) => {
  const sealed = isSecret && body !== undefined ? toStored(keyring, nameOf(request), body) : undefined
  return {
    status,
    content_type: contentType ?? null,
    body: sealed === undefined ? (body ?? null) : null,
    sealed_body: sealed?.bytes ?? null,
    sealed_by: sealed?.sealedBy ?? null
  }
}

/** The name under which an answer is sealed. */
const nameOf = ({ tenant: { organizationId, mode }, key }: RepeatableRequest) =>
  `idempotency_answer:${organizationId}:${mode}:${key}`

interface Row {
  readonly is_mine: boolean
  readonly fingerprint: Uint8Array
  readonly status: number | null
  readonly content_type: string | null
  readonly body: Uint8Array | null
  readonly sealed_body: Uint8Array | null
  readonly sealed_by: string | null
}

const claimOf = (row: Row | undefined, claimed: Claimed, keyring: Keyring): Claim => {
  if (row === undefined) return { _tag: "UnderWay" }
  if (row.is_mine) return { _tag: "Claimed", claimed }
  if (Buffer.compare(row.fingerprint, claimed.request.fingerprint) !== 0) return { _tag: "Reused" }
  if (row.status === null) return { _tag: "UnderWay" }
  const { status, content_type, body, sealed_body, sealed_by } = row
  // An answer whose key this process has not is as good as not kept.
  const opened =
    sealed_body === null
      ? (body ?? undefined)
      : fromStored(keyring, nameOf(claimed.request), { bytes: sealed_body, sealedBy: sealed_by })
  return { _tag: "Answered", answer: { status, contentType: content_type ?? undefined, body: opened } }
}
