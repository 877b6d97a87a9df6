/**
 * The session of an operator, in a cookie that no script can read and that no other site can cause to be sent:
 * `__Host-usher-operator`. Over plain HTTP, which only loopback may use, browsers refuse that prefix; the cookie then is
 * `usher-operator`.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { StreamCredentials } from "../../api/Credentials.ts"
import { type Operator, operatorSessionSeconds, OperatorSessions } from "../../auth/operators/OperatorSessions.ts"
import { Origins } from "../../http/server/Origins.ts"
import { unavailable } from "../Refusal.ts"

/** The address of the sign-in. */
export const signInPath = "/dashboard/sign-in"

/** Makes the functions that begin, read and end the session of an operator. */
export const make = Effect.gen(function* () {
  const origins = yield* Origins
  const sessions = yield* OperatorSessions

  const cookie = Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const secure = origins.of(request).isEncrypted
    const name = secure ? "__Host-usher-operator" : "usher-operator"
    const set = (response: HttpServerResponse.HttpServerResponse, token: string, seconds: number) =>
      HttpServerResponse.setCookieUnsafe(response, name, token, {
        path: "/",
        httpOnly: true,
        sameSite: "strict",
        secure,
        maxAge: `${seconds} seconds`
      })
    return { token: request.cookies[name], set }
  })

  return {
    /** Begins a session with a secret key. Returns undefined if the key is not valid. */
    begin: Effect.fnUntraced(function* (secretKey: string, response: HttpServerResponse.HttpServerResponse) {
      const token = yield* Effect.catchTag(sessions.begin(secretKey), "Unavailable", unavailable)
      return token === undefined ? undefined : (yield* cookie).set(response, token, operatorSessionSeconds)
    }),
    /** Keeps a session that a person has begun. */
    keep: Effect.fnUntraced(function* (token: string, response: HttpServerResponse.HttpServerResponse) {
      return (yield* cookie).set(response, token, operatorSessionSeconds)
    }),
    /** Returns the other invitations of the person of the session. */
    memberships: Effect.gen(function* () {
      const { token } = yield* cookie
      return token === undefined ? [] : yield* Effect.catchTag(sessions.memberships(token), "Unavailable", unavailable)
    }),
    /** Makes the session that of another invitation of the same address. */
    become: Effect.fnUntraced(function* (personId: string) {
      const { token } = yield* cookie
      if (token === undefined) return false
      return yield* Effect.catchTag(sessions.become(token, personId), "Unavailable", unavailable)
    }),
    /** Returns the operator; undefined without a session. */
    read: Effect.gen(function* () {
      const { token } = yield* cookie
      if (token === undefined) return undefined
      return yield* Effect.catchTag(sessions.find(token), "Unavailable", unavailable)
    }),
    /** The credentials of a stream: it ends with the session, and when that becomes another person's. */
    lasting: (operator: Operator) => Effect.map(cookie, ({ token = "" }) => credentialsOf(sessions, operator, token)),
    /** Where a browser without a session goes. If it had one, or has sent a form, the sign-in says so. */
    signInPath: Effect.gen(function* () {
      const { method } = yield* HttpServerRequest.HttpServerRequest
      const { token } = yield* cookie
      return token === undefined && method === "GET" ? signInPath : `${signInPath}?ended`
    }),
    end: Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
      const { token, set } = yield* cookie
      if (token !== undefined) yield* Effect.catchTag(sessions.end(token), "Unavailable", unavailable)
      return set(response, "", 0)
    })
  }
})

const credentialsOf = (
  sessions: OperatorSessions["Service"],
  { by, tenant }: Operator,
  token: string
): StreamCredentials => ({
  hasEnded: () => false,
  areGood: () =>
    sessions.find(token).pipe(
      Effect.map((found) => found?.by === by && found.tenant.mode === tenant.mode),
      Effect.catchTag("Unavailable", () => Effect.succeed(true))
    )
})
