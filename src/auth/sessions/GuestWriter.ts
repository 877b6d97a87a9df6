/** Writes guests and their sessions. Guests that arrive at the same time share a statement. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Millis } from "../../domain/values/Time.ts"
import * as BatchWriter from "../../store/postgres/BatchWriter.ts"
import type { TokenSubject } from "../../domain/consumer/Session.ts"

/** A new guest and its session. */
export interface GuestRow {
  readonly subject: TokenSubject
  readonly refreshHash: Uint8Array
  readonly createdAt: Millis
  readonly expiresAt: Millis
  readonly accessExpiresAt: Millis
}

/** Creates the function that writes one guest, unless its session exists. It returns whether it has, after the commit. */
export const makeInsert = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const write = (rows: ReadonlyArray<GuestRow>) =>
    sql<{ readonly id: string }>`
    with arrived as (
      select a.* from unnest(
        ${rows.map((row) => row.subject.consumerId)}::uuid[],
        ${rows.map((row) => row.subject.tenant.organizationId)}::uuid[],
        ${rows.map((row) => row.subject.tenant.mode)}::text[],
        ${rows.map((row) => row.subject.sessionId)}::uuid[],
        ${rows.map((row) => row.refreshHash)}::bytea[],
        ${rows.map((row) => new Date(row.createdAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.expiresAt))}::timestamptz[],
        ${rows.map((row) => new Date(row.accessExpiresAt))}::timestamptz[]
      ) as a (consumer_id, organization_id, mode, session_id, refresh_hash, created_at, expires_at, access_expires_at)
      where not exists (select from sessions s where s.id = a.session_id)
    ), consumer as (
      insert into consumers (id, organization_id, mode, type, created_at)
      select consumer_id, organization_id, mode, 'guest', created_at from arrived
    )
    insert into sessions
      (id, consumer_id, organization_id, mode, type, refresh_hash, created_at, expires_at, access_expires_at)
    select session_id, consumer_id, organization_id, mode, 'guest', refresh_hash, created_at, expires_at, access_expires_at
    from arrived returning id`.pipe(
      Effect.map((written) => new Set(written.map(({ id }) => id))),
      Effect.map((written) => rows.map(({ subject }) => written.has(subject.sessionId)))
    )

  return yield* BatchWriter.make("guests", write)
})
