/**
 * The session of a visitor, in a cookie that no script can read: `__Host-usher-<organization>`, and with `-test` for
 * experiences of a test key. Over plain HTTP, which only loopback may use, browsers refuse that prefix and `Secure`; the
 * cookie then is `usher-<organization>`.
 *
 * A second cookie, `usher-here`, has no secret. It tells the script of a page that there may be a session.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { PageTokens, pageTokenSeconds } from "../../auth/tokens/PageTokens.ts"
import { Tokens } from "../../auth/tokens/Tokens.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Origins } from "../../http/server/Origins.ts"
import { Refusal, unavailable } from "../Refusal.ts"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"

/** The name of the cookie that a script can read. */
export const hereCookie = "usher-here"

const nameOf = ({ organizationId, mode }: Tenant, isEncrypted: boolean): string =>
  `${isEncrypted ? "__Host-" : ""}usher-${organizationId}${mode === "test" ? "-test" : ""}`

type Response = HttpServerResponse.HttpServerResponse

const unknownToken = new Refusal({ status: 401, code: "UNAUTHORIZED" })

/** Makes the functions that read, keep and end the session of a visitor. */
export const make = Effect.gen(function* () {
  const origins = yield* Origins
  const pageTokens = yield* PageTokens
  const tokens = yield* Tokens

  const isEncrypted = Effect.map(HttpServerRequest.HttpServerRequest, (request) => origins.of(request).isEncrypted)

  const setCookies = (
    response: Response,
    tenant: Tenant,
    token: string,
    isSecure: boolean,
    maxAge: number
  ): Response => {
    const common = { path: "/", sameSite: "lax", secure: isSecure, maxAge: `${maxAge} seconds` } as const
    return response.pipe(
      HttpServerResponse.setCookieUnsafe(nameOf(tenant, isSecure), token, { ...common, httpOnly: true }),
      HttpServerResponse.setCookieUnsafe(hereCookie, "1", common)
    )
  }

  /** Adds the cookies of a session to the response. A session that has ended meanwhile gets none. */
  const keep = Effect.fnUntraced(function* (response: Response, session: VerifiedAccess) {
    const token = yield* Effect.catchTag(pageTokens.issue(session), "Unavailable", unavailable)
    if (token === undefined) return response
    return setCookies(response, session.tenant, token, yield* isEncrypted, pageTokenSeconds)
  })

  return {
    /** Returns the session of the cookie, or of an access token instead. One of another tenant is none. */
    read: Effect.fnUntraced(function* (tenant: Tenant, accessToken?: string) {
      const { cookies } = yield* HttpServerRequest.HttpServerRequest
      const token = cookies[nameOf(tenant, yield* isEncrypted)]
      const isOwn = (session: VerifiedAccess) =>
        session.tenant.organizationId === tenant.organizationId && session.tenant.mode === tenant.mode
      if (accessToken !== undefined) {
        const session = yield* Effect.catchTag(tokens.verifyAccess(accessToken), "Unavailable", unavailable)
        if (session === undefined || !isOwn(session)) return yield* unknownToken
        return { ...session, isDue: false }
      }
      if (token === undefined) return undefined
      const session = yield* Effect.catchTag(pageTokens.verify(token), "Unavailable", unavailable)
      return session !== undefined && isOwn(session) ? session : undefined
    }),
    /** Returns the session that the API has started with this access token. */
    ofAccessToken: Effect.fnUntraced(function* (accessToken: string) {
      const access = yield* Effect.catchTag(tokens.verifyAccess(accessToken), "Unavailable", unavailable)
      return access ?? (yield* unavailable())
    }),
    keep,
    /** Removes the cookies. */
    forget: Effect.fnUntraced(function* (response: Response, tenant: Tenant) {
      return setCookies(response, tenant, "", yield* isEncrypted, 0)
    })
  }
})

export type Sessions = Effect.Success<typeof make>
