/**
 * Lists and ends the sessions of one consumer. Ending a session revokes its refresh tokens and takes effect in every
 * process at once. A session is listed while one of its tokens may be valid.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { sessionSorts, type SessionType } from "../../domain/consumer/Session.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import {
  keyset,
  listShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused,
  type RowKey
} from "../../store/records/Pagination.ts"
import { RecordNotFound } from "../../store/records/RecordNotFound.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { type EndedSession, endSessions, Revocations } from "./Revocations.ts"
import { ofTenant, unarchivedOf } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Sessions shown to the consumer: the current one and the latest others. */
const shownSessionsMax = 100

/** A session as shown to its consumer and its organization. */
export interface ListedSession {
  readonly id: string
  readonly type: SessionType
  readonly createdAt: Millis
  /** Null if the session was never refreshed. */
  readonly lastRefreshedAt: Millis | null
  /** When the session's last token expires. */
  readonly expiresAt: Millis
}

/** Shape of the list of a consumer's sessions, in order of their start. */
export const shape = listShape("consumer sessions", "s", sessionSorts, { createdAt: "timestamptz" })

export class ConsumerSessions extends Context.Service<
  ConsumerSessions,
  {
    /** Returns the sessions shown to the consumer: the one with the id `currentId` first, then the latest. */
    shown(
      tenant: Tenant,
      consumerId: string,
      currentId: string | undefined
    ): Effect.Effect<ReadonlyArray<ListedSession>, Unavailable>
    /** Returns a page of all sessions. */
    list(
      tenant: Tenant,
      consumerId: string,
      query: PageQuery<keyof typeof shape.sorts> & { readonly type?: SessionType | undefined }
    ): Effect.Effect<Page<ListedSession>, PageRefused | RecordNotFound | Unavailable>
    /** Ends one session and returns it. When it returns, the end is durable and every process applies it. */
    end(
      tenant: Tenant,
      consumerId: string,
      sessionId: string
    ): Effect.Effect<ListedSession, RecordNotFound | Unavailable>
    /** Ends all sessions and returns their number. When it returns, the end is durable and every process applies it. */
    endAll(tenant: Tenant, consumerId: string): Effect.Effect<number, RecordNotFound | Unavailable>
  }
>()("usher/auth/sessions/ConsumerSessions") {
  static readonly layer = Layer.effect(ConsumerSessions)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const revocations = yield* Revocations

      /** Matches the consumer's sessions `s` that have not ended. */
      const alive = (tenant: Tenant, consumerId: string, now: Date) => sql`
        s.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "s")}
        and s.revoked_at is null and greatest(s.expires_at, s.access_expires_at) > ${now}`

      /** Fails unless the tenant has the consumer. */
      const known = Effect.fnUntraced(function* (tenant: Tenant, consumerId: string) {
        const rows = yield* sql`
          select from consumers
          where id = ${consumerId} and ${unarchivedOf(sql, tenant)}`
        if (rows.length === 0) return yield* new RecordNotFound({ record: "Consumer" })
      })

      const currentDate = Effect.map(Time.serverNow, (now) => new Date(now))

      const shown = Effect.fn("ConsumerSessions.shown")(function* (
        tenant: Tenant,
        consumerId: string,
        currentId: string | undefined
      ) {
        const rows = yield* sql<Row>`
          select s.* from sessions s where ${alive(tenant, consumerId, yield* currentDate)}
          order by s.id is not distinct from ${currentId ?? null}::uuid desc, s.created_at desc, s.id desc
          limit ${shownSessionsMax}`
        return rows.map(toSession)
      }, orUnavailable)

      const list = Effect.fn("ConsumerSessions.list")(function* (
        tenant: Tenant,
        consumerId: string,
        { type, ...query }: PageQuery<keyof typeof shape.sorts> & { readonly type?: SessionType | undefined }
      ) {
        yield* known(tenant, consumerId)
        const planned = yield* plan(shape, query, { tenant, filter: { consumerId, type } })
        const { columns, condition, order } = keyset(sql, planned)
        const isOfType = type === undefined ? sql`true` : sql`s.type = ${type}`
        const rows = yield* sql<Row & RowKey>`
          select s.*, ${columns} from sessions s
          where ${alive(tenant, consumerId, yield* currentDate)} and ${isOfType} and ${condition} ${order}`
        return page(planned, rows, toSession)
      }, orUnavailable)

      const end = Effect.fn("ConsumerSessions.end")(function* (tenant: Tenant, consumerId: string, sessionId: string) {
        yield* known(tenant, consumerId)
        const now = yield* currentDate
        const rows = yield* endSessions<Row>(sql, sql`s.id = ${sessionId} and ${alive(tenant, consumerId, now)}`, now)
        if (rows[0] === undefined) return yield* new RecordNotFound({ record: "Session" })
        yield* revocations.ended(rows)
        return toSession(rows[0])
      }, orUnavailable)

      const endAll = Effect.fn("ConsumerSessions.endAll")(function* (tenant: Tenant, consumerId: string) {
        yield* known(tenant, consumerId)
        const now = yield* currentDate
        const rows = yield* endSessions(sql, alive(tenant, consumerId, now), now)
        yield* revocations.ended(rows)
        return rows.length
      }, orUnavailable)

      return { shown, list, end, endAll }
    })
  )
}

interface Row extends EndedSession {
  readonly type: SessionType
  readonly created_at: Date
  readonly refreshed_at: Date | null
  readonly expires_at: Date
}

const toSession = (row: Row): ListedSession => ({
  id: row.id,
  type: row.type,
  createdAt: row.created_at.getTime(),
  lastRefreshedAt: row.refreshed_at?.getTime() ?? null,
  expiresAt: Math.max(row.expires_at.getTime(), row.access_expires_at.getTime())
})
