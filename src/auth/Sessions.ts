/**
 * Consumer sessions (interface document 2.10 and 5.3; completions 2): they start, are refreshed and end.
 *
 * A session is a family of refresh tokens, of which only the latest is good; the session keeps its hash. Whoever shows an
 * older one has it from somewhere it should not be, or has lost a race against somebody who has: the session ends, for
 * both of them, because nobody can tell which of the two is the consumer.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { hash, randomUUID } from "node:crypto"
import type { Tenant } from "../domain/Ids.ts"
import type { Millis } from "../domain/Time.ts"
import { Invalidations, notification } from "../store/Invalidations.ts"
import type { Unavailable } from "../store/Journal.ts"
import { orUnavailable } from "../store/SqlFailure.ts"
import * as GuestWriter from "./GuestWriter.ts"
import { endOfSession, Revocations } from "./Revocations.ts"
import { type Lifetimes, TokenLifetimes } from "./TokenLifetimes.ts"
import { type IssuedToken, Tokens, type TokenSubject } from "./Tokens.ts"

/** A session as its consumer is told of it. Unless it is refreshed it ends with its refresh token, at `expiresAt`. */
export interface GuestSession {
  readonly type: "guest"
  readonly consumerId: string
  /** The same as `consumerId`. */
  readonly guestId: string
  readonly expiresAt: Millis
}

/** The same of a consumer who has shown who it is, with its addresses as far as they are known. */
export interface AuthenticatedSession {
  readonly type: "authenticated"
  readonly consumerId: string
  readonly email?: string
  readonly phone?: string
  readonly expiresAt: Millis
}

/** A new session and its first tokens. */
export interface StartedSession<Session extends GuestSession | AuthenticatedSession> {
  readonly session: Session
  readonly accessToken: string
  readonly refreshToken: string
  readonly refreshTokenTtlSeconds: number
}

/** The next tokens of a session. */
export interface RefreshedSession {
  readonly accessToken: string
  readonly refreshToken: string
  readonly refreshTokenTtlSeconds: number
  readonly accessTokenExpiresAt: Millis
}

/** A consumer who has shown who it is. */
export interface AuthenticatedConsumer {
  readonly tenant: Tenant
  readonly consumerId: string
  readonly email?: string
  readonly phone?: string
}

/** The refresh token is none of ours, has expired, was used before, or its session has ended. */
export class InvalidRefreshToken extends Schema.TaggedError<InvalidRefreshToken>()("InvalidRefreshToken", {}) {}

export class Sessions extends Context.Service<
  Sessions,
  {
    /** Creates a guest with a session of its own. Durable when it returns. */
    guest(tenant: Tenant): Effect.Effect<StartedSession<GuestSession>, Unavailable>
    /** Starts a session; durable when it returns, or with the transaction around it. */
    start(consumer: AuthenticatedConsumer): Effect.Effect<StartedSession<AuthenticatedSession>, Unavailable>
    /** Exchanges a refresh token for new tokens. Of several who try at once one has its way. */
    refresh(tenant: Tenant, refreshToken: string): Effect.Effect<RefreshedSession, InvalidRefreshToken | Unavailable>
    /** Ends a session, at once in every process; durable when it returns. */
    end(tenant: Tenant, sessionId: string): Effect.Effect<void, Unavailable>
  }
>()("usher/auth/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const tokens = yield* Tokens
      const lifetimes = yield* TokenLifetimes
      const random = yield* SecureRandom.SecureRandom
      const revocations = yield* Revocations
      const invalidations = yield* Invalidations
      const insertGuest = yield* GuestWriter.makeInsert

      /** The tokens of a session, and what the session keeps of them. */
      const issue = Effect.fnUntraced(function* (subject: TokenSubject) {
        const refreshTokenId = randomUUID()
        const lifetime = yield* lifetimes.of(subject.tenant.organizationId)
        const refresh = yield* tokens.issueRefresh(subject, refreshTokenId, lifetime.refresh)
        const access = yield* tokens.issueAccess(subject, lifetime.access)
        return { refresh, access, lifetime, refreshHash: hashOf(refreshTokenId) }
      })

      const started = (issued: {
        readonly refresh: IssuedToken
        readonly access: IssuedToken
        readonly lifetime: Lifetimes
      }) => ({
        accessToken: issued.access.token,
        refreshToken: issued.refresh.token,
        refreshTokenTtlSeconds: issued.lifetime.refresh
      })

      const guest = Effect.fnUntraced(function* (tenant: Tenant) {
        const createdAt = yield* Clock.currentTimeMillis
        const consumerId = yield* random.uuidV7()
        const subject: TokenSubject = { tenant, consumerId, sessionId: yield* random.uuidV7(), sessionType: "guest" }
        const issued = yield* issue(subject)
        const { expiresAt } = issued.refresh
        const { refreshHash } = issued
        yield* insertGuest({ subject, refreshHash, createdAt, expiresAt, accessExpiresAt: issued.access.expiresAt })
        return {
          session: { type: "guest", consumerId, guestId: consumerId, expiresAt } as const,
          ...started(issued)
        }
      })

      const start = Effect.fn("Sessions.start")(function* ({ tenant, consumerId, ...known }: AuthenticatedConsumer) {
        const sessionId = yield* random.uuidV7()
        const issued = yield* issue({ tenant, consumerId, sessionId, sessionType: "authenticated" })
        yield* sql`insert into sessions ${sql.insert({
          id: sessionId,
          consumer_id: consumerId,
          organization_id: tenant.organizationId,
          mode: tenant.mode,
          type: "authenticated",
          refresh_hash: issued.refreshHash,
          created_at: new Date(yield* Clock.currentTimeMillis),
          expires_at: new Date(issued.refresh.expiresAt),
          access_expires_at: new Date(issued.access.expiresAt)
        })}`
        const { expiresAt } = issued.refresh
        return { session: { type: "authenticated", consumerId, ...known, expiresAt } as const, ...started(issued) }
      }, orUnavailable)

      const refresh = Effect.fn("Sessions.refresh")(function* (tenant: Tenant, refreshToken: string) {
        const shown = yield* tokens.verifyRefresh(refreshToken)
        if (shown === undefined) return yield* new InvalidRefreshToken()
        const { tokenId, ...subject } = shown
        const next = yield* issue(subject)
        const rows = yield* turn({
          ...subject,
          tenant,
          shownHash: hashOf(tokenId),
          next,
          now: yield* Clock.currentTimeMillis
        })
        const row = rows[0]
        if (row === undefined) return yield* new InvalidRefreshToken()
        if (!row.is_current) {
          yield* revoked(shown.sessionId, row.access_expires_at)
          return yield* new InvalidRefreshToken()
        }
        return { ...started(next), accessTokenExpiresAt: next.access.expiresAt }
      }, orUnavailable)

      /** Takes the next token for the shown one, or ends the session; no row if there is none to refresh. */
      const turn = (turning: Turning) => {
        const { tenant, sessionId, shownHash, next } = turning
        const now = new Date(turning.now)
        const isCurrent = sql`s.refresh_hash = ${shownHash}::bytea`
        return sql<{ readonly is_current: boolean; readonly access_expires_at: Date }>`
          with turned as (
            update sessions s set
              refresh_hash = case when ${isCurrent} then ${next.refreshHash}::bytea else s.refresh_hash end,
              expires_at = case when ${isCurrent} then ${new Date(next.refresh.expiresAt)}::timestamptz else s.expires_at end,
              access_expires_at = case when ${isCurrent}
                then greatest(s.access_expires_at, ${new Date(next.access.expiresAt)}::timestamptz)
                else s.access_expires_at end,
              revoked_at = case when ${isCurrent} then null else ${now}::timestamptz end
            where s.id = ${sessionId} and s.organization_id = ${tenant.organizationId} and s.mode = ${tenant.mode}
              and s.revoked_at is null and s.expires_at > ${now}
              and exists (select from consumers c where c.id = s.consumer_id and not c.archived)
            returning s.id, s.revoked_at is null as is_current, s.access_expires_at
          )
          select is_current, access_expires_at,
            case when not is_current then ${notification(sql, "session", endOfSession(sql, sql`turned`))} end
          from turned`
      }

      const end = Effect.fn("Sessions.end")(function* (tenant: Tenant, sessionId: string) {
        const rows = yield* sql<{ readonly access_expires_at: Date }>`
          with ended as (
            update sessions set revoked_at = ${new Date(yield* Clock.currentTimeMillis)}
            where id = ${sessionId} and organization_id = ${tenant.organizationId} and mode = ${tenant.mode}
              and revoked_at is null
            returning id, access_expires_at
          )
          select access_expires_at, ${notification(sql, "session", endOfSession(sql, sql`ended`))} from ended`
        if (rows[0] !== undefined) yield* revoked(sessionId, rows[0].access_expires_at)
      }, orUnavailable)

      /** Here at once; returns when the other processes have heard of it, too. */
      const revoked = (sessionId: string, accessExpiresAt: Date) =>
        Effect.suspend(() => {
          revocations.add(sessionId, accessExpiresAt.getTime())
          return invalidations.settled
        })

      return { guest, start, refresh, end }
    })
  )
}

interface Turning extends TokenSubject {
  readonly shownHash: Uint8Array
  readonly next: { readonly refresh: IssuedToken; readonly access: IssuedToken; readonly refreshHash: Uint8Array }
  readonly now: Millis
}

const hashOf = (tokenId: string) => hash("sha256", tokenId, "buffer")
