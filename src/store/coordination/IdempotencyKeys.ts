/**
 * The keys under which requests may be repeated (completions 4, last paragraph). A key is claimed by whoever carries its
 * request out first; then it holds the answer, for a day.
 *
 * A claim is a lease that is extended while its holder lives, so that a request whose process has died can be carried out
 * by the next one that shows the key. The database's clock counts it, as it is the one that all processes share.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** How long an answer can be asked for again, from when its request was first sent. */
export const keptHours = 24

/** How long a claim holds unless it is extended. */
export const leaseSeconds = 30

/** A request that may be repeated. */
export interface RepeatableRequest {
  readonly tenant: Tenant
  readonly key: string
  /** A digest of what is asked for: the key belongs to it alone. */
  readonly fingerprint: Uint8Array
}

/** An answer as it was given first. Without a body it was given, and its content is not kept. */
export interface FirstAnswer {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: Uint8Array | undefined
}

/** A request that is its holder's to carry out. */
export interface Claimed {
  readonly request: RepeatableRequest
  readonly claimId: string
}

/** What is known of a request when it is shown. */
export type Claim =
  | { readonly _tag: "Claimed"; readonly claimed: Claimed }
  | { readonly _tag: "UnderWay" }
  | { readonly _tag: "Answered"; readonly answer: FirstAnswer }
  /** The key belongs to another request. */
  | { readonly _tag: "Reused" }

export class IdempotencyKeys extends Context.Service<
  IdempotencyKeys,
  {
    /** Claims the request for whoever asks, unless it has been answered or another has claimed it. */
    claim(request: RepeatableRequest): Effect.Effect<Claim, Unavailable>
    /** Holds the claim for another lease. */
    extend(claimed: Claimed): Effect.Effect<void, Unavailable>
    /** Keeps the answer. False if the claim had run out and another has it now. */
    keep(claimed: Claimed, answer: FirstAnswer): Effect.Effect<boolean, Unavailable>
    /** Gives the claim up without an answer: the same request may claim it again. */
    release(claimed: Claimed): Effect.Effect<void, Unavailable>
    /** Gives the key back: any request may claim it. */
    remove(claimed: Claimed): Effect.Effect<void, Unavailable>
  }
>()("usher/store/coordination/IdempotencyKeys") {
  static readonly layer = Layer.effect(
    IdempotencyKeys,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const lease = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`

      const claim = Effect.fn("IdempotencyKeys.claim")(function* (request: RepeatableRequest) {
        const { tenant, key, fingerprint } = request
        const claimId = randomUUID()
        const now = yield* Clock.currentTimeMillis
        const expiresAt = new Date(now + keptHours * 3_600_000)
        // Who is neither let in nor finds a row has met one that was written this moment: it is under way.
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
              status = null, content_type = null, body = null
            where k.expires_at <= ${new Date(now)}
              or (k.status is null and k.lease_until <= clock_timestamp() and k.fingerprint = excluded.fingerprint)
            returning k.*
          )
          select true as is_mine, fingerprint, status, content_type, body from claimed
          union all
          select false, fingerprint, status, content_type, body from idempotency_keys
          where organization_id = ${tenant.organizationId} and mode = ${tenant.mode} and key = ${key}
            and not exists (select from claimed)`
        return claimOf(rows[0], { request, claimId })
      }, orUnavailable)

      const mine = ({ request: { tenant, key }, claimId }: Claimed) => sql`
        organization_id = ${tenant.organizationId} and mode = ${tenant.mode} and key = ${key}
          and claim_id = ${claimId} and status is null`

      return {
        claim,
        extend: (claimed) =>
          orUnavailable(Effect.asVoid(sql`update idempotency_keys set lease_until = ${lease} where ${mine(claimed)}`)),
        keep: (claimed, { status, contentType, body }) =>
          sql`
            update idempotency_keys
            set status = ${status}, content_type = ${contentType ?? null}, body = ${body ?? null}::bytea
            where ${mine(claimed)} returning 1`.pipe(
            Effect.map((rows) => rows.length > 0),
            orUnavailable
          ),
        release: (claimed) =>
          orUnavailable(
            Effect.asVoid(sql`update idempotency_keys set lease_until = clock_timestamp() where ${mine(claimed)}`)
          ),
        remove: (claimed) => orUnavailable(Effect.asVoid(sql`delete from idempotency_keys where ${mine(claimed)}`))
      }
    })
  )
}

interface Row {
  readonly is_mine: boolean
  readonly fingerprint: Uint8Array
  readonly status: number | null
  readonly content_type: string | null
  readonly body: Uint8Array | null
}

const claimOf = (row: Row | undefined, claimed: Claimed): Claim => {
  if (row === undefined) return { _tag: "UnderWay" }
  if (row.is_mine) return { _tag: "Claimed", claimed }
  if (Buffer.compare(row.fingerprint, claimed.request.fingerprint) !== 0) return { _tag: "Reused" }
  if (row.status === null) return { _tag: "UnderWay" }
  const { status, content_type, body } = row
  return { _tag: "Answered", answer: { status, contentType: content_type ?? undefined, body: body ?? undefined } }
}
