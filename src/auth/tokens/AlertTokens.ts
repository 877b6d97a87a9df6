/**
 * The token in the link with which a consumer ends the emails of one alert: a JWT of `type` `alert` with an audience of
 * its own. It needs no session, and opens nothing else.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { alertTopics, type AlertTopic } from "../../domain/message/Alert.ts"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer, verify } from "./Jwt.ts"
import { sign } from "./Signing.ts"
import * as Time from "../../store/coordination/Time.ts"

const audience = "usher:alert"

/** Seconds: emails are read late. */
const lifetimeSeconds = 90 * 86_400

/** Longer tokens are rejected unread. */
const lengthMax = 4_096

/** The alert that a token names. */
export interface NamedAlert {
  readonly tenant: Tenant
  readonly topic: AlertTopic
  readonly subjectId: string
  readonly consumerId: string
}

export class AlertTokens extends Context.Service<
  AlertTokens,
  {
    issue(alert: NamedAlert): Effect.Effect<string>
    /** Returns the alert; undefined if the token is invalid or has expired. */
    verify(token: string): Effect.Effect<NamedAlert | undefined>
  }
>()("usher/auth/tokens/AlertTokens") {
  static readonly layer = Layer.effect(AlertTokens)(
    Effect.map(SigningKeys, (keys) => ({
      issue: ({ tenant, topic, subjectId, consumerId }) =>
        Effect.map(Time.serverNow, (now) => {
          const iat = Math.floor(now / 1_000)
          const named = { type: "alert", ...tenant, topic, subjectId, consumerId }
          return sign(keys, { ...named, iss: issuer, aud: audience, iat, exp: iat + lifetimeSeconds })
        }),
      verify: Effect.fnUntraced(function* (token: string) {
        if (token.length > lengthMax) return undefined
        const read = yield* Effect.option(verify(keys, token, { audience, now: yield* Time.serverNow }))
        return Option.getOrUndefined(
          Option.map(Option.flatMap(read, decode), ({ organizationId, mode, topic, subjectId, consumerId }) => ({
            tenant: { organizationId, mode },
            topic,
            subjectId,
            consumerId
          }))
        )
      })
    }))
  )
}

const decode = Schema.decodeUnknownOption(
  Schema.Struct({
    type: Schema.Literal("alert"),
    organizationId: Id,
    mode: Mode,
    topic: Schema.Literals(alertTopics),
    subjectId: Id,
    consumerId: Id
  })
)
