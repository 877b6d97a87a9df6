/**
 * Sessions that ended before their access tokens expired, and archived consumers. A valid token alone does not reveal
 * either. The list is in memory, and the database notifies every process of changes (`Invalidations`), so a request
 * with a known token costs no SQL. While memory may be out of date, the database is queried.
 *
 * An entry is kept until the last access token of its session has expired. The entry of a consumer is kept for the
 * longest access token lifetime, or until the consumer is restored.
 */
import { Context, Effect, Exit, Layer, Request, RequestResolver, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { isUuid } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { heldOffNoMore } from "../../store/consumer/ConsumerRecords.ts"
import { Invalidations, notification } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { longestAccess } from "../tokens/TokenLifetimes.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Entries in memory. Above this number the database is queried for every token, until there are fewer. */
const revokedMax = 200_000

const sweepSeconds = 30

/** The id of a session and of its consumer. */
export interface SessionOfConsumer {
  readonly sessionId: string
  readonly consumerId: string
}

/** A session that has ended, with the expiry of its last access token. */
export interface EndedSession {
  readonly id: string
  readonly access_expires_at: Date
}

export class Revocations extends Context.Service<
  Revocations,
  {
    /** True if memory is complete. Otherwise `check` must be called. */
    readonly isComplete: () => boolean
    /** True if the session is known to have ended, or its consumer to be archived. */
    readonly isRevoked: (session: SessionOfConsumer) => boolean
    /** Queries the database: true if the session has ended, is unknown, or its consumer is archived. */
    check(sessionId: string): Effect.Effect<boolean, Unavailable>
    /**
     * Like `check`, for a status read: while the database is away, the last known state holds and the session counts as
     * valid.
     */
    checkForStatus(sessionId: string): Effect.Effect<boolean, Unavailable>
    /**
     * Ends a session, or all sessions of a consumer, in this process. `until` is the expiry of the last access token.
     */
    readonly add: (id: string, until: Millis) => void
    /** Applies sessions that are stored as ended: in this process at once. Returns when every process applies them. */
    ended(sessions: ReadonlyArray<EndedSession>): Effect.Effect<void>
    /** Removes a restored consumer from the list in this process. */
    readonly remove: (consumerId: string) => void
  }
>()("usher/auth/sessions/Revocations") {
  static readonly layer = Layer.effect(Revocations)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invalidations = yield* Invalidations
      const longestAccessSeconds = yield* longestAccess
      /** Ids of sessions and of consumers. */
      const revoked = new Map<string, Millis>()
      let overflowed = false

      const add = (id: string, until: Millis) => {
        if (revoked.size < revokedMax || revoked.has(id)) revoked.set(id, until)
        else overflowed = true
      }

      const select = SqlSchema.findAll({
        Request: Schema.Date,
        Result: Schema.Struct({ id: Schema.String, access_expires_at: Schema.Date }),
        execute: (now) => {
          const lifetime = sql`${longestAccessSeconds}::int * interval '1 second'`
          return sql`
            (select id, access_expires_at from sessions where revoked_at is not null and access_expires_at > ${now})
            union all
            (select id, updated_at + ${lifetime} from consumers
              where archived and updated_at > ${now}::timestamptz - ${lifetime})
            limit ${revokedMax + 1}`
        }
      })

      const refresh = Effect.gen(function* () {
        const before = new Map(revoked)
        const rows = yield* select(new Date(yield* Time.serverNow))
        overflowed = false
        // Removes entries that are no longer stored: restored consumers. Entries added during the read stay.
        if (rows.length <= revokedMax) {
          const found = new Set(rows.map(({ id }) => id))
          for (const [id, until] of before) if (!found.has(id) && revoked.get(id) === until) revoked.delete(id)
        }
        for (const row of rows) add(row.id, row.access_expires_at.getTime())
      }).pipe(Effect.catchTag("SchemaError", Effect.die), orUnavailable)

      const sweep = Effect.gen(function* () {
        yield* Effect.sleep(sweepSeconds * 1000)
        const now = yield* Time.serverNow
        for (const [id, until] of revoked) if (until <= now) revoked.delete(id)
        if (overflowed) yield* Effect.ignore(refresh)
      })

      yield* invalidations.subscribe("session", {
        handle: (payload) =>
          Effect.sync(() => {
            const [id, until] = payload.split(" ") as [string, string]
            if (Number(until) === heldOffNoMore) revoked.delete(id)
            else add(id, Number(until))
          }),
        refresh
      })
      yield* Effect.forkScoped(Effect.forever(sweep))

      const resolver = yield* makeResolver
      // A malformed id belongs to no session.
      const check = (sessionId: string) =>
        isUuid(sessionId) ? Effect.request(new Check({ sessionId }), resolver) : Effect.succeed(true)

      return {
        isComplete: () => !overflowed && invalidations.isCurrent(),
        isRevoked: ({ sessionId, consumerId }) => revoked.has(sessionId) || revoked.has(consumerId),
        check,
        checkForStatus: (sessionId) =>
          overflowed ? check(sessionId) : invalidations.orLastHeard(check(sessionId), false),
        add,
        ended: (sessions) =>
          Effect.suspend(() => {
            for (const session of sessions) add(session.id, session.access_expires_at.getTime())
            return sessions.length === 0 ? Effect.void : invalidations.settled
          }),
        remove: (consumerId) => void revoked.delete(consumerId)
      }
    })
  )

  /** Keeps ended sessions in memory only, for use without a database. */
  static readonly layerMemory = Layer.sync(Revocations, () => {
    const revoked = new Set<string>()
    return {
      isComplete: () => true,
      isRevoked: ({ sessionId, consumerId }) => revoked.has(sessionId) || revoked.has(consumerId),
      check: (sessionId) => Effect.sync(() => revoked.has(sessionId)),
      checkForStatus: (sessionId) => Effect.sync(() => revoked.has(sessionId)),
      add: (id) => void revoked.add(id),
      ended: (sessions) => Effect.sync(() => sessions.forEach(({ id }) => revoked.add(id))),
      remove: (consumerId) => void revoked.delete(consumerId)
    }
  })
}

/** Asks whether a session has ended, is unknown, or its consumer is archived. */
class Check extends Request.Class<{ readonly sessionId: string }, boolean, Unavailable> {}

/** Sessions of one statement at most. */
const checksMax = 1_000

/** Answers the checks that come in the same turn with one statement. A drop brings many tokens that are new here. */
const makeResolver = Effect.map(SqlClient.SqlClient, (sql) =>
  RequestResolver.make<Check>((entries) =>
    sql<{ readonly id: string }>`
      select s.id from sessions s
      where s.id = any(${entries.map(({ request }) => request.sessionId)}::uuid[]) and s.revoked_at is null
        and not exists (select from consumers c where c.id = s.consumer_id and c.archived)`.pipe(
      Effect.map((rows) => {
        const live = new Set(rows.map(({ id }) => id))
        for (const entry of entries) entry.completeUnsafe(Exit.succeed(!live.has(entry.request.sessionId)))
      }),
      orUnavailable
    )
  ).pipe(RequestResolver.batchN(checksMax))
)

/**
 * Ends the sessions `s` that match the condition and have not ended, and notifies every process. Returns their rows.
 * The caller must call `Revocations.ended` after the commit.
 */
export const endSessions = <Row extends EndedSession = EndedSession>(
  sql: SqlClient.SqlClient,
  condition: Fragment,
  now: Date
) =>
  sql<Row>`
    with ended as (
      update sessions s set revoked_at = ${now} where ${condition} and s.revoked_at is null returning s.*
    )
    select ended.*, ${notification(sql, "session", endOfSession(sql, sql`ended`))} as notified from ended`

/** The notification payload for an ended session, computed from its row. */
export const endOfSession = (sql: SqlClient.SqlClient, row: Fragment): Fragment =>
  sql`${row}.id || ' ' || ceil(extract(epoch from ${row}.access_expires_at) * 1000)::bigint`
