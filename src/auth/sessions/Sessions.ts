/**
 * Consumer sessions (interface document 2.10 and 5.3; completions 2): start, refresh and end.
 *
 * A session is a family of refresh tokens, of which only the latest is valid. The session stores its hash. A consumer
 * may still send the token that was just replaced, because two tabs refresh at once or a response is lost. For
 * `repeatSeconds` that token returns the same successor, in every process. A token that is older, or sent later, was
 * copied. Then the session ends, because the server cannot distinguish the consumer from the thief.
 *
 * To return the successor again, a process signs it again. The session therefore stores when the successor was issued
 * and when it expires. It does not store the successor's id: with the id and the signing keys, a copy of the database
 * could forge every refresh token. The id is derived from the id of the replaced token, which only its holder has, and
 * from a salt, which only the session has. Each refresh draws a new salt, so a token leads only to its direct
 * successor. If the signing key is rotated within `repeatSeconds`, the repeated token has the same id and another
 * signature; both are valid.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHmac, hash, randomBytes, randomUUID } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { notification } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import * as GuestWriter from "./GuestWriter.ts"
import { type EndedSession, endOfSession, endSessions, Revocations } from "./Revocations.ts"
import { type Lifetimes, TokenLifetimes } from "../tokens/TokenLifetimes.ts"
import { type IssuedToken, Tokens, type TokenSubject } from "../tokens/Tokens.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"

/** How long the token that was just replaced returns its successor. */
const repeatSeconds = 10

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
    /** Creates a guest and its session. Durable when it returns. */
    guest(tenant: Tenant): Effect.Effect<StartedSession<GuestSession>, Unavailable>
    /** Starts a session. Durable when it returns, or with the surrounding transaction. */
    start(consumer: AuthenticatedConsumer): Effect.Effect<StartedSession<AuthenticatedSession>, Unavailable>
    /**
     * Exchanges a refresh token for new tokens. Concurrent calls with one token get the same refresh token, and
     * different access tokens.
     */
    refresh(tenant: Tenant, refreshToken: string): Effect.Effect<RefreshedSession, InvalidRefreshToken | Unavailable>
    /** Ends a session in every process at once. Durable when it returns. */
    end(tenant: Tenant, sessionId: string): Effect.Effect<void, Unavailable>
  }
>()("usher/auth/sessions/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const tokens = yield* Tokens
      const lifetimes = yield* TokenLifetimes
      const random = yield* SecureRandom.SecureRandom
      const revocations = yield* Revocations
      const insertGuest = yield* GuestWriter.makeInsert

      /** Creates the tokens of a session, and what the session stores about them. */
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
        const lifetime = yield* lifetimes.of(tenant.organizationId)
        const access = yield* tokens.issueAccess(subject, lifetime.access)
        const now = yield* Clock.currentTimeMillis
        const rows = yield* turn({ ...subject, tenant, tokenId, now, lifetime, accessExpiresAt: access.expiresAt })
        const session = rows[0]
        if (session === undefined) return yield* new InvalidRefreshToken()
        if (session.revoked_at !== null) {
          yield* revocations.ended([session])
          return yield* new InvalidRefreshToken()
        }
        const successor = yield* successorIn(session, subject, tokenId)
        return { accessToken: access.token, accessTokenExpiresAt: access.expiresAt, ...successor }
      }, orUnavailable)

      /** Replaces the presented token, unless that has happened; or ends the session. No row: no session. */
      const turn = ({ tenant, sessionId, tokenId, lifetime, ...turning }: Turning) => {
        const now = new Date(turning.now)
        const salt = randomBytes(16)
        const shownHash = hashOf(tokenId)
        const accessExpiresAt = new Date(turning.accessExpiresAt)
        const expiresAt = new Date((Math.floor(turning.now / 1000) + lifetime.refresh) * 1000)
        const repeatsSince = new Date(turning.now - repeatSeconds * 1000)
        const isCurrent = sql`s.refresh_hash = ${shownHash}::bytea`
        const isRepeat = sql`(s.replaced_hash = ${shownHash}::bytea and s.refreshed_at > ${repeatsSince}::timestamptz)`
        return sql<TurnedRow>`
          with turned as (
            update sessions s set
              refresh_hash = case when ${isCurrent} then ${hashOf(successorOf(tokenId, salt))}::bytea else s.refresh_hash end,
              replaced_hash = case when ${isCurrent} then s.refresh_hash else s.replaced_hash end,
              refreshed_at = case when ${isCurrent} then ${now}::timestamptz else s.refreshed_at end,
              successor_salt = case when ${isCurrent} then ${salt}::bytea else s.successor_salt end,
              expires_at = case when ${isCurrent} then ${expiresAt}::timestamptz else s.expires_at end,
              access_expires_at = case when ${isCurrent} or ${isRepeat}
                then greatest(s.access_expires_at, ${accessExpiresAt}::timestamptz) else s.access_expires_at end,
              revoked_at = case when ${isCurrent} or ${isRepeat} then null else ${now}::timestamptz end
            where s.id = ${sessionId} and ${ofTenant(sql, tenant, "s")}
              and s.revoked_at is null and s.expires_at > ${now}
              and exists (select from consumers c where c.id = s.consumer_id and not c.archived)
            returning s.*
          )
          select turned.*,
            case when revoked_at is not null then ${notification(sql, "session", endOfSession(sql, sql`turned`))} end as notified
          from turned`
      }

      /** Signs the successor of the token with this id, from what the session stores. */
      const successorIn = Effect.fnUntraced(function* (session: TurnedRow, subject: TokenSubject, replacedId: string) {
        const issuedAt = Math.floor(session.refreshed_at!.getTime() / 1000) * 1000
        const ttlSeconds = (session.expires_at.getTime() - issuedAt) / 1000
        const tokenId = successorOf(replacedId, session.successor_salt!)
        const { token } = yield* tokens.issueRefresh(subject, tokenId, ttlSeconds, issuedAt)
        return { refreshToken: token, refreshTokenTtlSeconds: ttlSeconds }
      })

      const end = Effect.fn("Sessions.end")(function* (tenant: Tenant, sessionId: string) {
        const isMeant = sql`s.id = ${sessionId} and ${ofTenant(sql, tenant, "s")}`
        yield* revocations.ended(yield* endSessions(sql, isMeant, new Date(yield* Clock.currentTimeMillis)))
      }, orUnavailable)

      return { guest, start, refresh, end }
    })
  )
}

interface Turning extends TokenSubject {
  /** The `jti` of the presented token. */
  readonly tokenId: string
  readonly now: Millis
  readonly lifetime: Lifetimes
  readonly accessExpiresAt: Millis
}

/** A session after a refresh token was presented. The last two are null if it ends before its first refresh. */
interface TurnedRow extends EndedSession {
  readonly revoked_at: Date | null
  readonly expires_at: Date
  readonly refreshed_at: Date | null
  readonly successor_salt: Uint8Array | null
}

const hashOf = (tokenId: string) => hash("sha256", tokenId, "buffer")

/** Returns the `jti` of a refresh token's successor. */
const successorOf = (tokenId: string, salt: Uint8Array) =>
  createHmac("sha256", tokenId).update(salt).digest("base64url")
