/**
 * The token with which a room takes over the session of a visitor that a gate has sent there: a JWT of `type` `visit`
 * with an audience of its own, for the address of one redirect. It opens nothing else.
 */
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SessionType, type TokenSubject } from "../../domain/consumer/Session.ts"
import { Id, Mode } from "../../domain/values/Ids.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer, verify } from "./Jwt.ts"
import { sign } from "./Signing.ts"

const audience = "usher:visit"

/** Seconds: long enough for a redirect. */
const lifetimeSeconds = 60

/** Longer tokens are rejected unread. */
const lengthMax = 4_096

/** A visitor's session, and the queue in which it has a place. */
export interface Visiting {
  readonly subject: TokenSubject
  readonly queueId: string
}

export class VisitTokens extends Context.Service<
  VisitTokens,
  {
    issue(visiting: Visiting): Effect.Effect<string>
    /** Returns the visitor; undefined if the token is invalid or has expired. The session may have ended. */
    verify(token: string): Effect.Effect<Visiting | undefined>
  }
>()("usher/auth/tokens/VisitTokens") {
  static readonly layer = Layer.effect(VisitTokens)(
    Effect.map(SigningKeys, (keys) => ({
      issue: ({ subject, queueId }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const { tenant, ...session } = subject
          const iat = Math.floor(now / 1_000)
          const named = { type: "visit", ...tenant, ...session, queueId }
          return sign(keys, { ...named, iss: issuer, aud: audience, iat, exp: iat + lifetimeSeconds })
        }),
      verify: Effect.fnUntraced(function* (token: string) {
        if (token.length > lengthMax) return undefined
        const read = yield* Effect.option(verify(keys, token, { audience, now: yield* Clock.currentTimeMillis }))
        return Option.getOrUndefined(
          Option.map(
            Option.flatMap(read, decode),
            ({ organizationId, mode, consumerId, sessionId, sessionType, queueId }): Visiting => ({
              subject: { tenant: { organizationId, mode }, consumerId, sessionId, sessionType },
              queueId
            })
          )
        )
      })
    }))
  )
}

const decode = Schema.decodeUnknownOption(
  Schema.Struct({
    type: Schema.Literal("visit"),
    consumerId: Id,
    organizationId: Id,
    mode: Mode,
    sessionId: Id,
    sessionType: SessionType,
    queueId: Id
  })
)
