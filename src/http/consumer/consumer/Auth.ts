/** The handlers of sessions. */
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ExternalIdentities } from "../../../auth/sessions/ExternalIdentities.ts"
import { codeMinutes, type Guest, OneTimeCodes } from "../../../auth/codes/OneTimeCodes.ts"
import { Sessions } from "../../../auth/sessions/Sessions.ts"
import type { VerifiedAccess } from "../../../auth/tokens/Tokens.ts"
import { Delivery } from "../../../delivery/Delivery.ts"
import * as Message from "../../../delivery/Message.ts"
import * as Gate from "../../challenge/Gate.ts"
import { addressOf, type SentAddress } from "../../fields/AddressFields.ts"
import { CurrentSession, CurrentTenant } from "../../credentials/Credentials.ts"
import { ServiceUnavailable } from "../../errors/Errors.ts"
import * as RateLimit from "../../limits/RateLimit.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { ConsumerApi } from "../Api.ts"
import { InvalidExchangeCode, InvalidRefreshToken, orInvalidCode } from "./AuthApi.ts"

/** The handlers of the group `auth`. They need sessions, one-time codes, external identities and delivery. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "auth",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    const externals = yield* ExternalIdentities
    const gate = yield* Gate.make

    const { sendCode, verifyCode } = yield* makeCodes

    return handlers.handleAll({
      guest: ({ request }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            gate(request, { action: "guest", tenant }, () => sessions.guest(tenant))
          )
        ).pipe(Gate.orChallenge),
      requestOneTimeCode: ({ payload, request }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            gate(request, { action: "code", tenant }, () => sendCode(payload))
          )
        ).pipe(
          Gate.orChallenge,
          Effect.catchTag("TooManyCodes", ({ codesMax, retryAt }) => RateLimit.refuse(request, codesMax, retryAt))
        ),
      verifyOneTimeCode: ({ payload }) => orServiceUnavailable(verifyCode(payload)).pipe(orInvalidCode),
      authorizeExternal: ({ payload: { claims = {}, ...identity } }) =>
        orServiceUnavailable(
          Effect.gen(function* () {
            const { tenant } = yield* CurrentTenant
            const { exchangeCode, ...rest } = yield* externals.authorize(tenant, identity, claims)
            return { exchangeCode: Redacted.value(exchangeCode), ...rest }
          })
        ),
      exchangeExternal: ({ payload: { exchangeCode } }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) => externals.exchange(tenant, exchangeCode))
        ).pipe(
          Effect.catchTag("WrongExchangeCode", ({ reason }) => Effect.fail(new InvalidExchangeCode({ error: reason })))
        ),
      refresh: ({ payload: { refreshToken } }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) => sessions.refresh(tenant, refreshToken))
        ).pipe(
          Effect.catchTag("InvalidRefreshToken", () =>
            Effect.fail(new InvalidRefreshToken({ error: "Invalid refresh token" }))
          )
        ),
      logout: () =>
        orServiceUnavailable(
          Effect.flatMap(CurrentSession, ({ access }) =>
            access === undefined ? Effect.void : sessions.end(access.tenant, access.sessionId)
          )
        )
    })
  })
)

/** Makes the functions that send and verify one-time codes. */
const makeCodes = Effect.gen(function* () {
  const codes = yield* OneTimeCodes
  const delivery = yield* Delivery

  /** The answer is the same whether or not the message is delivered. It is a 503 if no more messages can be accepted. */
  const sendCode = Effect.fnUntraced(function* (payload: SentAddress) {
    const { tenant } = yield* CurrentTenant
    const address = yield* addressOf(payload)
    const code = yield* codes.request(tenant, address)
    const isTaken = yield* delivery.send(
      Message.oneTimeCode({
        tenant,
        channel: address.channel,
        to: address.value,
        code: Redacted.value(code),
        minutes: codeMinutes
      })
    )
    if (!isTaken) return yield* new ServiceUnavailable({ retryAfterSeconds: 5 })
    return { ok: true } as const
  })

  const verifyCode = Effect.fnUntraced(function* (payload: SentAddress & { readonly code: string }) {
    const { tenant } = yield* CurrentTenant
    const { access } = yield* CurrentSession
    const address = yield* addressOf(payload)
    return yield* codes.verify(tenant, { address, code: payload.code, guest: guestOf(access) })
  })

  return { sendCode, verifyCode }
})

/** The guest of the session, which a verified address upgrades; undefined for a session of another type. */
function guestOf(access: VerifiedAccess | undefined): Guest | undefined {
  return access?.sessionType === "guest" ? access : undefined
}
