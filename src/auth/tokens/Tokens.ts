/**
 * A consumer's tokens (interface document 2.10; completions 2): JWTs signed with Ed25519. Access and refresh tokens differ
 * in `type` and in audience, so that neither can stand in for the other, nor for an admission grant.
 *
 * A token that was verified, or made here, is remembered until it expires: a consumer's second request costs no
 * signature check. It is remembered by the SHA-256 of its whole text, signature included.
 */
import { Clock, Context, Effect, Exit, Layer, Option, Schema } from "effect"
import * as Jose from "jose"
import { hash } from "node:crypto"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings } from "../../settings/Settings.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { SegmentedCache } from "../sessions/SegmentedCache.ts"
import { Revocations } from "../sessions/Revocations.ts"
import { algorithm, SigningKeys } from "../keys/SigningKeys.ts"

/** `iss` of everything Usher signs. */
export const issuer = "usher"

const audiences = { access: "usher:consumer-api", refresh: "usher:refresh" } as const

/** Access tokens remembered at least. */
const rememberedTokens = 125_000

/** Characters of a token that is looked at; ours have some 600. */
const lengthMax = 4_096

/** Whether the consumer has shown who it is. */
export const SessionType = Schema.Literals(["guest", "authenticated"])
export type SessionType = typeof SessionType.Type

/** The session a token belongs to. */
export interface TokenSubject {
  readonly tenant: Tenant
  readonly consumerId: string
  readonly sessionId: string
  readonly sessionType: SessionType
}

/** A consumer as its access token names it. */
export interface VerifiedAccess extends TokenSubject {
  /** When the token ends. */
  readonly expiresAt: Millis
}

/** A refresh token as it names itself. */
export interface VerifiedRefresh extends TokenSubject {
  /** Its `jti`. */
  readonly tokenId: string
}

/** A token as it is handed out. */
export interface IssuedToken {
  readonly token: string
  readonly expiresAt: Millis
}

export class Tokens extends Context.Service<
  Tokens,
  {
    /** A new access token; unless it is said how long it lives, that is the installation's setting. */
    issueAccess(subject: TokenSubject, lifetimeSeconds?: number): Effect.Effect<IssuedToken>
    /**
     * A refresh token with the given `jti`, whose hash is what the session keeps of it; its lifetime likewise. It begins
     * now, or at `issuedAt`: the same token can be signed again, and is the same text while the same key signs.
     */
    issueRefresh(
      subject: TokenSubject,
      tokenId: string,
      lifetimeSeconds?: number,
      issuedAt?: Millis
    ): Effect.Effect<IssuedToken>
    /**
     * Whom the token names; undefined if it is not an access token of ours, has expired, its session has ended, or its
     * consumer is archived. Asks the database only while memory may have missed such an end.
     */
    verifyAccess(token: string): Effect.Effect<VerifiedAccess | undefined, Unavailable>
    /** The same for a status read: while the database is away, a token that was verified before is as good as was last heard. */
    verifyForStatus(token: string): Effect.Effect<VerifiedAccess | undefined, Unavailable>
    /** Whether a token that was verified has expired since, or its session is known here to have ended. Costs next to nothing. */
    hasEnded(access: VerifiedAccess, now: Millis): boolean
    /** Whom the token names; undefined if it is not a refresh token of ours, or has expired. Whether it has been used, the session knows. */
    verifyRefresh(token: string): Effect.Effect<VerifiedRefresh | undefined>
  }
>()("usher/auth/tokens/Tokens") {
  static readonly layer = Layer.effect(
    Tokens,
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const settings = yield* Settings
      const revocations = yield* Revocations
      let removals = keys.removals
      let verified = new SegmentedCache<Exit.Success<VerifiedAccess>>(rememberedTokens)

      /** The tokens that were verified, with keys that are still accepted. */
      const remembered = () => {
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
        const issuedAt = Math.floor((begin ?? (yield* Clock.currentTimeMillis)) / 1000)
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
        return { token: yield* sign(keys, claims), expiresAt: claims.exp * 1000 }
      })

      const check = Effect.fnUntraced(function* (token: string, digest: string, now: Millis) {
        const memory = remembered()
        const read = yield* verify(keys, token, { audience: audiences.access, now }).pipe(Effect.option)
        const claims = Option.flatMap(read, decodeAccess)
        if (Option.isNone(claims)) return undefined
        const { organizationId, mode, consumerId, sessionId, sessionType, exp } = claims.value
        const access = { tenant: { organizationId, mode }, consumerId, sessionId, sessionType, expiresAt: exp * 1000 }
        const known = succeed(access)
        const isLive = yield* live(known, revocations.check)
        memory.set(digest, known)
        return isLive
      })

      /** Nothing for a session that has ended. */
      const live = (
        known: Exit.Success<VerifiedAccess>,
        ask: Revocations["Service"]["check"]
      ): Effect.Effect<VerifiedAccess | undefined, Unavailable> => {
        if (revocations.isRevoked(known.value)) return undefinedExit
        if (revocations.isComplete()) return known
        return Effect.map(ask(known.value.sessionId), (isRevoked) => (isRevoked ? undefined : known.value))
      }

      const verifying = (ask: Revocations["Service"]["check"]) => (token: string) =>
        Effect.withFiber<VerifiedAccess | undefined, Unavailable>((fiber) => {
          if (token.length > lengthMax) return undefinedExit
          const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
          const digest = digestOf(token)
          const known = remembered().get(digest)
          if (known === undefined) return check(token, digest, now)
          if (known.value.expiresAt > now) return live(known, ask)
          remembered().delete(digest)
          return undefinedExit
        })

      return {
        issueAccess: Effect.fnUntraced(function* (subject, lifetimeSeconds = settings.accessTokenLifetimeSeconds) {
          const memory = remembered()
          const issued = yield* issue("access", subject, crypto.randomUUID(), lifetimeSeconds)
          memory.set(digestOf(issued.token), succeed({ ...subject, expiresAt: issued.expiresAt }))
          return issued
        }),
        issueRefresh: (subject, tokenId, lifetimeSeconds = settings.refreshTokenLifetimeSeconds, issuedAt) =>
          issue("refresh", subject, tokenId, lifetimeSeconds, issuedAt),
        verifyAccess: verifying(revocations.check),
        verifyForStatus: verifying(revocations.checkForStatus),
        hasEnded: (access, now) => access.expiresAt <= now || revocations.isRevoked(access),
        verifyRefresh: Effect.fnUntraced(function* (token) {
          if (token.length > lengthMax) return undefined
          const now = yield* Clock.currentTimeMillis
          const verified = yield* verify(keys, token, { audience: audiences.refresh, now }).pipe(Effect.option)
          const claims = Option.flatMap(verified, decodeRefresh)
          if (Option.isNone(claims)) return undefined
          const { organizationId, mode, consumerId, sessionId, sessionType, jti } = claims.value
          return { tenant: { organizationId, mode }, consumerId, sessionId, sessionType, tokenId: jti }
        })
      }
    })
  )
}

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

/** Signs claims as a compact JWT with the current key. */
export const sign = (keys: SigningKeys["Service"], claims: Jose.JWTPayload): Effect.Effect<string> =>
  Effect.promise(() =>
    new Jose.SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ: "JWT", kid: keys.current.kid })
      .sign(keys.current.privateKey)
  )

const compactPattern = /^[\w-]+\.[\w-]+\.([\w-]+)$/

/** Decoders of Base64 are lenient; a token has one spelling, without white space and stray bits at the end. */
const isCanonical = (token: string): boolean => {
  const signature = compactPattern.exec(token)?.[1]
  return signature !== undefined && Buffer.from(signature, "base64url").toString("base64url") === signature
}

/** The claims of a JWT of ours: known key, our algorithm and issuer, the given audience, not expired at `now`. */
export const verify = (
  keys: SigningKeys["Service"],
  token: string,
  options: { readonly audience: string; readonly now: Millis }
): Effect.Effect<Jose.JWTPayload, Jose.errors.JOSEError> => {
  const attempt = Effect.tryPromise({
    try: () =>
      Jose.jwtVerify(
        isCanonical(token) ? token : "",
        ({ kid }) => {
          const key = kid === undefined ? undefined : keys.publicKey(kid)
          return key === undefined ? Promise.reject(new Jose.errors.JWKSNoMatchingKey()) : key
        },
        { algorithms: [algorithm], issuer, audience: options.audience, currentDate: new Date(options.now) }
      ),
    catch: (error) => (error instanceof Jose.errors.JOSEError ? error : new Jose.errors.JWTInvalid("unreadable token"))
  }).pipe(Effect.map(({ payload }) => payload))
  // Another process may sign with a key already that this one hears of in a moment.
  return Effect.catch(attempt, (error) =>
    error instanceof Jose.errors.JWKSNoMatchingKey
      ? Effect.flatMap(keys.lookAgain, (mayBeKnown) => (mayBeKnown ? attempt : Effect.fail(error)))
      : Effect.fail(error)
  )
}
