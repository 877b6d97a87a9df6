/**
 * A consumer's tokens: JWTs. Access tokens and admission grants are signed with Ed25519, refresh tokens with HMAC. They
 * differ in `type` and audience, so none can be used in place of another.
 *
 * A token that was verified or issued here is cached until it expires, so a consumer's second request costs no
 * signature check. The cache key is the SHA-256 of the whole token, signature included.
 */
import { type Clock, Context, Effect, Exit, Layer, Option, Schema } from "effect"
import { hash } from "node:crypto"
import { SessionType, type TokenSubject, type VerifiedAccess } from "../../domain/consumer/Session.ts"
import { Id, Mode } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings } from "../../settings/Settings.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { Revocations } from "../sessions/Revocations.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer, verify, verifyRefresh } from "./Jwt.ts"
import { sign, signRefresh } from "./Signing.ts"
import * as Time from "../../store/coordination/Time.ts"

const audiences = { access: "usher:consumer-api", refresh: "usher:refresh" } as const

/** Least number of cached access tokens. */
const rememberedTokens = 125_000

/** Longer tokens are rejected unread. Tokens of Usher have about 600 characters. */
const lengthMax = 4_096

/** The claims of a refresh token. */
export interface VerifiedRefresh extends TokenSubject {
  /** Its `jti`. */
  readonly tokenId: string
}

/** A token for a caller. */
export interface IssuedToken {
  readonly token: string
  readonly expiresAt: Millis
}

export class Tokens extends Context.Service<
  Tokens,
  {
    /** Issues an access token. By default it has the installation's lifetime. */
    issueAccess(subject: TokenSubject, lifetimeSeconds?: number): Effect.Effect<IssuedToken>
    /**
     * Issues a refresh token with the given `jti`, whose hash the session stores. It starts now, or at `issuedAt`.
     * Signing it again gives the same text while the same key signs.
     */
    issueRefresh(
      subject: TokenSubject,
      tokenId: string,
      lifetimeSeconds?: number,
      issuedAt?: Millis
    ): Effect.Effect<IssuedToken>
    /**
     * Returns the claims; undefined if the token is invalid, its session has ended, or its consumer is archived.
     * Queries the database only while memory may have missed such an end.
     */
    verifyAccess(token: string): Effect.Effect<VerifiedAccess | undefined, Unavailable>
    /** Like `verifyAccess`. While the database is away, a verified token keeps its last known state. */
    verifyForStatus(token: string): Effect.Effect<VerifiedAccess | undefined, Unavailable>
    /**
     * Returns the claims if the token is in memory and memory alone can tell that it is valid now. Undefined means that
     * `verifyAccess` must be asked.
     */
    peekAccess(token: string): VerifiedAccess | undefined
    /** Whether `verifyAccess` may bring the token into memory: memory is complete and does not have it. */
    isUnseen(token: string): boolean
    /** Whether a verified token has expired since, or its session has ended. Reads memory only. */
    hasEnded(access: VerifiedAccess, now: Millis): boolean
    /** Returns the claims; undefined if the token is invalid. Only the session knows whether it was used. */
    verifyRefresh(token: string): Effect.Effect<VerifiedRefresh | undefined>
  }
>()("usher/auth/tokens/Tokens") {
  static readonly layer = Layer.effect(Tokens)(
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const settings = yield* Settings
      const revocations = yield* Revocations
      const clock = yield* Time.serverClock
      let removals = keys.removals
      let verified = new SegmentedCache<Exit.Success<VerifiedAccess>>(rememberedTokens)

      /** The cache of tokens verified with accepted keys. */
      const cache = () => {
        if (removals === keys.removals) return verified
        removals = keys.removals
        return (verified = new SegmentedCache(rememberedTokens))
      }

      const issue = Effect.fnUntraced(function* (
        type: keyof typeof audiences,
        subject: TokenSubject,
        tokenId: string,
        lifetimeSeconds: number,
        begin?: Millis
      ) {
        const issuedAt = Math.floor((begin ?? (yield* Time.serverNow)) / 1000)
        const claims = {
          type,
          consumerId: subject.consumerId,
          organizationId: subject.tenant.organizationId,
          mode: subject.tenant.mode,
          sessionId: subject.sessionId,
          sessionType: subject.sessionType,
          iss: issuer,
          aud: audiences[type],
          jti: tokenId,
          iat: issuedAt,
          exp: issuedAt + lifetimeSeconds
        }
        const token = type === "access" ? sign(keys, claims) : signRefresh(keys, claims)
        return { token, expiresAt: claims.exp * 1000 }
      })

      const check = Effect.fnUntraced(function* (token: string, digest: string, now: Millis) {
        const entries = cache()
        const read = yield* verify(keys, token, { audience: audiences.access, now }).pipe(Effect.option)
        const claims = Option.flatMap(read, decodeAccess)
        if (Option.isNone(claims)) return undefined
        const { organizationId, mode, consumerId, sessionId, sessionType, exp } = claims.value
        const access = { tenant: { organizationId, mode }, consumerId, sessionId, sessionType, expiresAt: exp * 1000 }
        // A signature does not prove that there was a session: a stolen signing key could name any.
        if (revocations.isRevoked(access) || (yield* revocations.check(sessionId))) return undefined
        entries.set(digest, succeed(access))
        return access
      })

      const live = liveIn(revocations)

      const verifying = (query: Revocations["Service"]["check"]) => (token: string) =>
        Effect.suspend((): Effect.Effect<VerifiedAccess | undefined, Unavailable> => {
          if (token.length > lengthMax) return undefinedExit
          const now = clock.currentTimeMillisUnsafe()
          const digest = digestOf(token)
          const known = cache().get(digest)
          if (known === undefined) return check(token, digest, now)
          if (known.value.expiresAt > now) return live(known, query)
          cache().delete(digest)
          return undefinedExit
        })

      return {
        issueAccess: Effect.fnUntraced(function* (subject, lifetimeSeconds = settings.accessTokenLifetimeSeconds) {
          const entries = cache()
          const issued = yield* issue("access", subject, crypto.randomUUID(), lifetimeSeconds)
          entries.set(digestOf(issued.token), succeed({ ...subject, expiresAt: issued.expiresAt }))
          return issued
        }),
        issueRefresh: (subject, tokenId, lifetimeSeconds = settings.refreshTokenLifetimeSeconds, issuedAt) =>
          issue("refresh", subject, tokenId, lifetimeSeconds, issuedAt),
        verifyAccess: verifying(revocations.check),
        verifyForStatus: verifying(revocations.checkForStatus),
        ...readingMemory(cache, revocations, clock),
        hasEnded: (access, now) => access.expiresAt <= now || revocations.isRevoked(access),
        verifyRefresh: Effect.fnUntraced(function* (token) {
          if (token.length > lengthMax) return undefined
          const now = yield* Time.serverNow
          const verified = yield* verifyRefresh(keys, token, { audience: audiences.refresh, now }).pipe(Effect.option)
          const claims = Option.flatMap(verified, decodeRefresh)
          if (Option.isNone(claims)) return undefined
          const { organizationId, mode, consumerId, sessionId, sessionType, jti } = claims.value
          return { tenant: { organizationId, mode }, consumerId, sessionId, sessionType, tokenId: jti }
        })
      }
    })
  )
}

/** Makes the function that returns undefined for a session that has ended. */
const liveIn =
  (revocations: Revocations["Service"]) =>
  (
    known: Exit.Success<VerifiedAccess>,
    query: Revocations["Service"]["check"]
  ): Effect.Effect<VerifiedAccess | undefined, Unavailable> => {
    if (revocations.isRevoked(known.value)) return undefinedExit
    if (revocations.isComplete()) return known
    return Effect.map(query(known.value.sessionId), (isRevoked) => (isRevoked ? undefined : known.value))
  }

/** Makes the functions that read memory alone. */
const readingMemory = (
  cache: () => SegmentedCache<Exit.Success<VerifiedAccess>>,
  revocations: Revocations["Service"],
  clock: Clock.Clock
): Pick<Tokens["Service"], "peekAccess" | "isUnseen"> => ({
  peekAccess: (token) => {
    if (token.length > lengthMax || !revocations.isComplete()) return undefined
    const access = cache().get(digestOf(token))?.value
    if (access === undefined || access.expiresAt <= clock.currentTimeMillisUnsafe()) return undefined
    return revocations.isRevoked(access) ? undefined : access
  },
  isUnseen: (token) =>
    token.length <= lengthMax && revocations.isComplete() && cache().get(digestOf(token)) === undefined
})

const undefinedExit = Exit.succeed(undefined)

const succeed = Exit.succeed as (access: VerifiedAccess) => Exit.Success<VerifiedAccess>

const digestOf = (token: string): string => hash("sha256", token, "base64url")

const claims = {
  consumerId: Id,
  organizationId: Id,
  mode: Mode,
  sessionId: Id,
  sessionType: SessionType,
  jti: Schema.String,
  iat: Schema.Int,
  exp: Schema.Int
}

const decodeAccess = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.Literal("access"), ...claims }))

const decodeRefresh = Schema.decodeUnknownOption(Schema.Struct({ type: Schema.Literal("refresh"), ...claims }))
