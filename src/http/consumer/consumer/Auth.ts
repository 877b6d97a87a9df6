/** The handlers of sessions. */
import { Effect, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ExternalIdentities } from "../../../auth/sessions/ExternalIdentities.ts"
import { type Guest, OneTimeCodes } from "../../../auth/codes/OneTimeCodes.ts"
import { Sessions } from "../../../auth/sessions/Sessions.ts"
import type { VerifiedAccess } from "../../../domain/consumer/Session.ts"
import { CurrentSession, CurrentTenant } from "../../../api/Credentials.ts"
import { SecurityEvents } from "../../../store/organization/SecurityEvents.ts"
import * as Gate from "../../challenge/Gate.ts"
import type { SentAddress } from "../../fields/AddressFields.ts"
import * as RateLimit from "../../limits/RateLimit.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { InvalidExchangeCode, InvalidRefreshToken } from "../../../api/consumer/AuthApi.ts"
import { makeAddressIn, makeClientOf, makeSendCode, orTooManyAttempts, orInvalidCode } from "./Codes.ts"

/** The handlers of the group `auth`. They need sessions, one-time codes, external identities and delivery. */
export const layer = HttpApiBuilder.group(ConsumerApi, "auth", (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const externals = yield* ExternalIdentities
    const gate = yield* Gate.make

    const sendCode = yield* makeSendCode
    const verifyCode = yield* makeVerifyCode
    const exchange = yield* makeExchange

    return handlers.handleAll({
      guest: ({ request, headers: { "idempotency-key": attempt } }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            gate(request, { action: "guest", tenant }, () => sessions.guest(tenant, attempt))
          )
        ).pipe(Gate.orChallenge),
      requestOneTimeCode: ({ payload, request }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            gate(request, { action: "code", tenant }, () => sendCode(request, payload))
          )
        ).pipe(
          Gate.orChallenge,
          Effect.catchTag("TooManyCodes", ({ codesMax, retryAt }) => RateLimit.refuse(request, codesMax, retryAt)),
          orTooManyAttempts(request)
        ),
      verifyOneTimeCode: ({ payload, request }) =>
        orServiceUnavailable(verifyCode(request, payload)).pipe(orInvalidCode, orTooManyAttempts(request)),
      authorizeExternal: ({ payload: { claims = {}, ...identity } }) =>
        orServiceUnavailable(
          Effect.gen(function* () {
            const { tenant } = yield* CurrentTenant
            const { exchangeCode, ...rest } = yield* externals.authorize(tenant, identity, claims)
            return { exchangeCode: Redacted.value(exchangeCode), ...rest }
          })
        ),
      exchangeExternal: ({ payload: { exchangeCode }, request }) =>
        orServiceUnavailable(exchange(request, exchangeCode)).pipe(
          Effect.catchTag("WrongExchangeCode", ({ reason }) => Effect.fail(new InvalidExchangeCode({ error: reason })))
        ),
      refresh: ({ payload: { refreshToken }, headers: { "idempotency-key": attempt } }) =>
        orServiceUnavailable(
          Effect.flatMap(CurrentTenant, ({ tenant }) => sessions.refresh(tenant, refreshToken, attempt))
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

/** Makes the function that starts a session for the code of an organization's server. */
const makeExchange = Effect.gen(function* () {
  const externals = yield* ExternalIdentities
  const events = yield* SecurityEvents
  const clientOf = yield* makeClientOf

  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, exchangeCode: string) {
    const { tenant } = yield* CurrentTenant
    const started = yield* externals.exchange(tenant, exchangeCode)
    const { consumerId } = started.session
    const clientAddress = clientOf(request)
    yield* events.record(tenant, { type: "sign_in", consumerId, clientAddress, details: { by: "external" } })
    return started
  })
})

/** Makes the function that verifies a one-time code and starts a session. */
const makeVerifyCode = Effect.gen(function* () {
  const codes = yield* OneTimeCodes
  const events = yield* SecurityEvents
  const addressIn = yield* makeAddressIn
  const clientOf = yield* makeClientOf

  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    { code, requestId, ...sent }: SentCode
  ) {
    const { tenant } = yield* CurrentTenant
    const { access } = yield* CurrentSession
    const address = yield* addressIn(tenant, sent)
    const client = clientOf(request)
    const started = yield* codes.verify(tenant, { address, code, requestId, client, guest: guestOf(access) })
    const { consumerId } = started.session
    yield* events.record(tenant, {
      type: "sign_in",
      consumerId,
      clientAddress: client,
      details: { by: address.channel }
    })
    return started
  })
})

interface SentCode extends SentAddress {
  readonly code: string
  readonly requestId?: string
}

/** The guest of the session, which a verified address upgrades; undefined for a session of another type. */
function guestOf(access: VerifiedAccess | undefined): Guest | undefined {
  return access?.sessionType === "guest" ? access : undefined
}
