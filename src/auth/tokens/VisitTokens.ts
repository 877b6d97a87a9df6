/**
 * The token with which a room takes over the session of a visitor that a gate has sent there: a JWT of `type` `visit`
 * with an audience of its own, for the address of one redirect. It opens nothing else. Addresses are kept in histories
 * and logs, so a session is taken over once; the database remembers it, so that every process knows and a restart does not
 * forget.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { SessionType, type TokenSubject } from "../../domain/consumer/Session.ts"
import { Id, Mode } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer, verify } from "./Jwt.ts"
import { sign } from "./Signing.ts"
import * as Time from "../../store/coordination/Time.ts"

const audience = "usher:visit"

/** Seconds: long enough for a redirect. */
const lifetimeSeconds = 60

/** How long a session is remembered: a repeated `pass` issues tokens for a minute. */
const rememberedMillis = 3 * lifetimeSeconds * 1_000

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
    /** True the first time that the session is taken over. Durable when it returns. */
    takeOver(visiting: Visiting): Effect.Effect<boolean, Unavailable>
  }
>()("usher/auth/tokens/VisitTokens") {
  static readonly layer = Layer.effect(VisitTokens)(
    Effect.map(Effect.all([SigningKeys, SqlClient.SqlClient]), ([keys, sql]) => ({
      issue: ({ subject, queueId }) =>
        Effect.map(Time.serverNow, (now) => {
          const { tenant, ...session } = subject
          const iat = Math.floor(now / 1_000)
          const named = { type: "visit", ...tenant, ...session, queueId }
          return sign(keys, { ...named, iss: issuer, aud: audience, iat, exp: iat + lifetimeSeconds })
        }),
      verify: Effect.fnUntraced(function* (token: string) {
        if (token.length > lengthMax) return undefined
        const read = yield* Effect.option(verify(keys, token, { audience, now: yield* Time.serverNow }))
        return Option.getOrUndefined(
          Option.map(
            Option.flatMap(read, decode),
            ({ organizationId, mode, consumerId, sessionId, sessionType, queueId }): Visiting => ({
              subject: { tenant: { organizationId, mode }, consumerId, sessionId, sessionType },
              queueId
            })
          )
        )
      }),
      takeOver: Effect.fnUntraced(function* ({ subject: { sessionId } }: Visiting) {
        const id = hash("sha256", `visit ${sessionId}`, "base64url")
        const expiresAt = new Date((yield* Time.serverNow) + rememberedMillis)
        const rows = yield* sql`
          insert into spent_challenges (id, expires_at) values (${id}, ${expiresAt})
          on conflict do nothing returning id`
        return rows.length === 1
      }, orUnavailable)
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
