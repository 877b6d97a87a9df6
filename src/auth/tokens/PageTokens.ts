/**
 * The token in the cookie of a page: a JWT of `type` `page` with an audience of its own, so the Consumer API never
 * accepts it. It belongs to a session and ends with it. It is valid for a day, and the page renews it during use.
 *
 * A session stores when its last token expires, and an ended session is kept until then. A page token counts as such a
 * token, so issuing one is a write.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomUUID } from "node:crypto"
import { Id, Mode } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { Revocations } from "../sessions/Revocations.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { issuer, verify } from "./Jwt.ts"
import { sign } from "./Signing.ts"
import { SessionType, type TokenSubject, type VerifiedAccess } from "../../domain/consumer/Session.ts"
import * as Time from "../../store/coordination/Time.ts"

const audience = "usher:page"

/** Seconds. It equals the longest lifetime of an access token, for which ended sessions and consumers are kept. */
export const pageTokenSeconds = 86_400

/** The age in seconds at which a token that is used is replaced. */
const renewalSeconds = 3_600

/** Least number of cached tokens. */
const rememberedTokens = 50_000

/** Longer tokens are rejected unread. */
const lengthMax = 4_096

export interface PageSession extends VerifiedAccess {
  /** True if the page should replace the token. */
  readonly isDue: boolean
}

export class PageTokens extends Context.Service<
  PageTokens,
  {
    /** Issues a token. Returns undefined if the session has ended. */
    issue(subject: TokenSubject): Effect.Effect<string | undefined, Unavailable>
    /** Returns the session; undefined if the token is invalid, its session has ended, or its consumer is archived. */
    verify(token: string): Effect.Effect<PageSession | undefined, Unavailable>
    /** Whether a verified token has expired since, or its session has ended. Reads memory only. */
    hasEnded(session: VerifiedAccess, now: Millis): boolean
  }
>()("usher/auth/tokens/PageTokens") {
  static readonly layer = Layer.effect(PageTokens)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const keys = yield* SigningKeys
      const revocations = yield* Revocations
      let removals = keys.removals
      let verified = new SegmentedCache<VerifiedAccess>(rememberedTokens)

      /** The cache of tokens verified with accepted keys. */
      const cache = () => {
        if (removals === keys.removals) return verified
        removals = keys.removals
        return (verified = new SegmentedCache(rememberedTokens))
      }

      const issue = Effect.fnUntraced(function* (subject: TokenSubject) {
        const { tenant, consumerId, sessionId, sessionType } = subject
        const iat = Math.floor((yield* Time.serverNow) / 1000)
        const exp = iat + pageTokenSeconds
        const rows = yield* sql`
          update sessions set access_expires_at = greatest(access_expires_at, ${new Date(exp * 1000)})
          where id = ${sessionId} and ${ofTenant(sql, tenant)} and revoked_at is null returning id`
        if (rows.length === 0) return undefined
        const { organizationId, mode } = tenant
        const named = { type: "page", consumerId, organizationId, mode, sessionId, sessionType }
        return sign(keys, { ...named, iss: issuer, aud: audience, jti: randomUUID(), iat, exp })
      }, orUnavailable)

      const check = Effect.fnUntraced(function* (token: string, digest: string, now: Millis) {
        const entries = cache()
        const read = yield* verify(keys, token, { audience, now }).pipe(Effect.option)
        const claims = Option.flatMap(read, decode)
        if (Option.isNone(claims)) return undefined
        const { organizationId, mode, consumerId, sessionId, sessionType, exp } = claims.value
        const session = { tenant: { organizationId, mode }, consumerId, sessionId, sessionType, expiresAt: exp * 1000 }
        if (revocations.isRevoked(session) || (yield* revocations.checkForStatus(sessionId))) return undefined
        entries.set(digest, session)
        return session
      })

      const find = Effect.fnUntraced(function* (token: string) {
        if (token.length > lengthMax) return undefined
        const now = yield* Time.serverNow
        const digest = hash("sha256", token, "base64url")
        const known = cache().get(digest)
        const session = known ?? (yield* check(token, digest, now))
        if (session === undefined || session.expiresAt <= now || revocations.isRevoked(session)) return undefined
        // While memory may be out of date, the database is asked.
        const mayHaveEnded = known !== undefined && !revocations.isComplete()
        if (mayHaveEnded && (yield* revocations.checkForStatus(session.sessionId))) return undefined
        return { ...session, isDue: session.expiresAt - now < (pageTokenSeconds - renewalSeconds) * 1000 }
      })

      return {
        issue,
        verify: find,
        hasEnded: (session, now) => session.expiresAt <= now || revocations.isRevoked(session)
      }
    })
  )
}

const decode = Schema.decodeUnknownOption(
  Schema.Struct({
    type: Schema.Literal("page"),
    consumerId: Id,
    organizationId: Id,
    mode: Mode,
    sessionId: Id,
    sessionType: SessionType,
    iat: Schema.Int,
    exp: Schema.Int
  })
)
