/**
 * New guests. A client that names its attempt gets the same guest again if it repeats the request within a minute, in
 * every process, because an answer can be lost. The id of the session and that of its refresh token are derived from the
 * name, which only that client has.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { hash, randomUUID } from "node:crypto"
import { SqlClient } from "effect/sql"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import type { Lifetimes } from "../tokens/TokenLifetimes.ts"
import type { IssuedToken } from "../tokens/Tokens.ts"
import type { TokenSubject } from "../../domain/consumer/Session.ts"
import type { Millis } from "../../domain/values/Time.ts"
import * as BatchWriter from "../../store/postgres/BatchWriter.ts"
import * as Time from "../../store/coordination/Time.ts"

/** How long a named attempt returns the same guest. */
const repeatSeconds = 60

/** The first tokens of a session, and the fields that the session stores about them. */
interface Issued {
  readonly refresh: IssuedToken
  readonly access: IssuedToken
  readonly lifetime: Lifetimes
  readonly refreshHash: Uint8Array
}

export const make = Effect.fnUntraced(function* (
  issue: (subject: TokenSubject, refreshTokenId?: string) => Effect.Effect<Issued, Unavailable>
) {
  const sql = yield* PgClient.PgClient
  const insert = yield* makeInsert

  /** Returns the guest that the same attempt has created. */
  const repeated = ({ tenant, sessionId }: TokenSubject, now: number) =>
    Effect.map(
      sql<{ readonly consumer_id: string }>`
        select consumer_id from sessions where id = ${sessionId} and ${ofTenant(sql, tenant)} and type = 'guest'
          and revoked_at is null and created_at > ${new Date(now - repeatSeconds * 1_000)}`,
      ([row]) => row?.consumer_id
    ).pipe(orUnavailable)

  const create = Effect.fnUntraced(function* (tenant: Tenant, names: Names | undefined) {
    const createdAt = yield* Time.serverNow
    const sessionId = names?.sessionId ?? idAt(createdAt)
    const subject: TokenSubject = { tenant, consumerId: idAt(createdAt), sessionId, sessionType: "guest" }
    const issued = yield* issue(subject, names?.refreshTokenId)
    const { refreshHash, refresh, access } = issued
    const row = {
      subject,
      bornAt: yield* Time.now,
      refreshHash,
      createdAt,
      expiresAt: refresh.expiresAt,
      accessExpiresAt: access.expiresAt
    }
    if (yield* insert(row)) return { consumerId: subject.consumerId, issued }
    const consumerId = yield* repeated(subject, createdAt)
    if (consumerId === undefined) return undefined
    return { consumerId, issued: yield* issue({ ...subject, consumerId }, names?.refreshTokenId) }
  })

  return Effect.fnUntraced(function* (tenant: Tenant, attempt?: string) {
    const named = attempt === undefined ? undefined : yield* create(tenant, namesOf(tenant, attempt))
    // An expired attempt creates a guest without a name, whose session is always new.
    return named ?? (yield* create(tenant, undefined))!
  })
})

interface Names {
  readonly sessionId: string
  readonly refreshTokenId: string
}

/** Returns a UUIDv7. Node draws the randomness of UUIDs for many at once: a draw costs more than the rest of an id. */
const idAt = (now: Millis): string => {
  const time = now.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Derives the ids of a session from the name of the attempt to start it. */
const namesOf = ({ organizationId, mode }: Tenant, attempt: string): Names => {
  const derived = (what: string) => hash("sha256", `${what} ${organizationId} ${mode} ${attempt}`, "hex")
  const hex = derived("session")
  // A UUID of version 8: its bits are the derivation's own.
  const sessionId = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`]
  return { sessionId: `${sessionId.join("-")}-${hex.slice(20, 32)}`, refreshTokenId: derived("refresh") }
}

/** A new guest and its session. */
export interface GuestRow {
  readonly subject: TokenSubject
  readonly refreshHash: Uint8Array
  /** The instant of the consumer's creation, in its tenant's time. A session has the server's. */
  readonly bornAt: Millis
  readonly createdAt: Millis
  readonly expiresAt: Millis
  readonly accessExpiresAt: Millis
}

/** Creates the function that writes one guest, unless its session exists. It returns whether it has, after the commit. */
const makeInsert = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const write = (rows: ReadonlyArray<GuestRow>) =>
    sql<{ readonly id: string }>`
    with arrived as (
      select * from unnest(
        ${rows.map((row) => row.subject.consumerId)}::uuid[],
        ${rows.map((row) => row.subject.tenant.organizationId)}::uuid[],
        ${rows.map((row) => row.subject.tenant.mode)}::text[],
        ${rows.map((row) => row.subject.sessionId)}::uuid[],
        ${rows.map((row) => row.refreshHash)}::bytea[],
        ${rows.map((row) => new Date(row.bornAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.createdAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.expiresAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.accessExpiresAt))}::timestamptz[]
      ) as a (consumer_id, organization_id, mode, session_id, refresh_hash, born_at, created_at, expires_at,
        access_expires_at)
    ), session as (
      insert into sessions
        (id, consumer_id, organization_id, mode, type, refresh_hash, created_at, expires_at, access_expires_at)
      select session_id, consumer_id, organization_id, mode, 'guest', refresh_hash, created_at, expires_at,
        access_expires_at
      from arrived
      -- In one order, so that two statements with the same attempts do not wait for each other.
      order by session_id
      on conflict (id) do nothing returning consumer_id
    )
    insert into consumers (id, organization_id, mode, type, created_at)
    select consumer_id, organization_id, mode, 'guest', born_at from arrived join session using (consumer_id)
    returning id`.pipe(
      Effect.map((written) => new Set(written.map(({ id }) => id))),
      Effect.map((written) => rows.map(({ subject }) => written.has(subject.consumerId)))
    )

  return yield* BatchWriter.make("guests", write)
})
