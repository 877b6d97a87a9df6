/** Consumer sessions: start, refresh and end. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import * as Guests from "./Guests.ts"
import { hashOf, makeTurn, successorOf, type TurnedRow } from "./RefreshTokens.ts"
import { endSessions, Revocations } from "./Revocations.ts"
import { type Lifetimes, TokenLifetimes } from "../tokens/TokenLifetimes.ts"
import { type IssuedToken, Tokens } from "../tokens/Tokens.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import type { TokenSubject } from "../../domain/consumer/Session.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A session as shown to its consumer. Unless it is refreshed, it ends with its refresh token, at `expiresAt`. */
export interface GuestSession {
  readonly type: "guest"
  readonly consumerId: string
  /** The same as `consumerId`. */
  readonly guestId: string
  readonly expiresAt: Millis
}

/** A session of an authenticated consumer, with its known addresses. */
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

/** A consumer that has signed in. */
export interface AuthenticatedConsumer {
  readonly tenant: Tenant
  readonly consumerId: string
  readonly email?: string
  readonly phone?: string
}

/** The refresh token is invalid, expired or already replaced, or its session has ended. */
export class InvalidRefreshToken extends Schema.TaggedError<InvalidRefreshToken>()("InvalidRefreshToken", {}) {}

export class Sessions extends Context.Service<
  Sessions,
  {
    /**
     * Creates a guest and its session. Durable when it returns. A call with the same `attempt` within a minute returns
     * the same guest again.
     */
    guest(tenant: Tenant, attempt?: string): Effect.Effect<StartedSession<GuestSession>, Unavailable>
    /** Starts a session. Durable when it returns, or with the surrounding transaction. */
    start(consumer: AuthenticatedConsumer): Effect.Effect<StartedSession<AuthenticatedSession>, Unavailable>
    /**
     * Exchanges a refresh token for new tokens. Concurrent calls with one token get the same refresh token, and
     * different access tokens. With the same `attempt` also later calls do, until that refresh token is used.
     */
    refresh(
      tenant: Tenant,
      refreshToken: string,
      attempt?: string
    ): Effect.Effect<RefreshedSession, InvalidRefreshToken | Unavailable>
    /** Ends a session in every process at once. Durable when it returns. */
    end(tenant: Tenant, sessionId: string): Effect.Effect<void, Unavailable>
  }
>()("usher/auth/sessions/Sessions") {
  static readonly layer = Layer.effect(Sessions)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const tokens = yield* Tokens
      const lifetimes = yield* TokenLifetimes
      const random = yield* SecureRandom.SecureRandom
      const revocations = yield* Revocations
      const turn = makeTurn(sql)

      /** Creates the tokens of a session, and the fields that the session stores about them. */
      const issue = Effect.fnUntraced(function* (subject: TokenSubject, refreshTokenId: string = randomUUID()) {
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

      const newGuest = yield* Guests.make(issue)

      const guest = Effect.fnUntraced(function* (tenant: Tenant, attempt?: string) {
        const { consumerId, issued } = yield* newGuest(tenant, attempt)
        const { expiresAt } = issued.refresh
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
          created_at: new Date(yield* Time.serverNow),
          expires_at: new Date(issued.refresh.expiresAt),
          access_expires_at: new Date(issued.access.expiresAt)
        })}`
        const { expiresAt } = issued.refresh
        return { session: { type: "authenticated", consumerId, ...known, expiresAt } as const, ...started(issued) }
      }, orUnavailable)

      const refresh = Effect.fn("Sessions.refresh")(function* (tenant: Tenant, refreshToken: string, attempt?: string) {
        const shown = yield* tokens.verifyRefresh(refreshToken)
        if (shown === undefined) return yield* new InvalidRefreshToken()
        const { tokenId, ...subject } = shown
        const lifetime = yield* lifetimes.of(tenant.organizationId)
        const access = yield* tokens.issueAccess(subject, lifetime.access)
        const now = yield* Time.serverNow
        const accessExpiresAt = access.expiresAt
        const rows = yield* turn({ ...subject, tenant, tokenId, attempt, now, lifetime, accessExpiresAt })
        const session = rows[0]
        if (session === undefined) return yield* new InvalidRefreshToken()
        if (session.revoked_at !== null) {
          yield* revocations.ended([session])
          return yield* new InvalidRefreshToken()
        }
        const successor = yield* successorIn(session, subject, tokenId)
        return { accessToken: access.token, accessTokenExpiresAt: accessExpiresAt, ...successor }
      }, orUnavailable)

      /** Signs the successor of the token with this id, from the session's stored fields. */
      const successorIn = Effect.fnUntraced(function* (session: TurnedRow, subject: TokenSubject, replacedId: string) {
        const issuedAt = Math.floor(session.refreshed_at!.getTime() / 1000) * 1000
        const ttlSeconds = (session.expires_at.getTime() - issuedAt) / 1000
        const tokenId = successorOf(replacedId, session.successor_salt!)
        const { token } = yield* tokens.issueRefresh(subject, tokenId, ttlSeconds, issuedAt)
        return { refreshToken: token, refreshTokenTtlSeconds: ttlSeconds }
      })

      const end = Effect.fn("Sessions.end")(function* (tenant: Tenant, sessionId: string) {
        const isMeant = sql`s.id = ${sessionId} and ${ofTenant(sql, tenant, "s")}`
        yield* revocations.ended(yield* endSessions(sql, isMeant, new Date(yield* Time.serverNow)))
      }, orUnavailable)

      return { guest, start, refresh, end }
    })
  )
}
