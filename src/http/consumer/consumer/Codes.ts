/** Shared code of the operations that request one-time codes and accept them. */
import { Effect, Option, Redacted } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Organizations } from "../../../auth/keys/Organizations.ts"
import { type Address, countryOf } from "../../../domain/consumer/Address.ts"
import { AttemptLimits, type TooManyAttempts } from "../../../auth/codes/AttemptLimits.ts"
import { smsAttempt } from "../../../auth/codes/CodeLimits.ts"
import { codeMinutes } from "../../../auth/codes/CodeRows.ts"
import { OneTimeCodes, type WrongCode } from "../../../auth/codes/OneTimeCodes.ts"
import { Delivery } from "../../../delivery/Delivery.ts"
import { defaultSmsCodesPerDay, takesSms, unnamedOrganization } from "../../../domain/organization/Organization.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { SecurityEvents } from "../../../store/organization/SecurityEvents.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { ServiceUnavailable } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { addressOf, type SentAddress } from "../../fields/AddressFields.ts"
import { countedAddress, Origins } from "../../server/Origins.ts"
import { InvalidOneTimeCode } from "../../../api/consumer/AuthApi.ts"
import { answering } from "../../errors/Answering.ts"
import * as Message from "../../../delivery/Message.ts"
import * as RateLimit from "../../limits/RateLimit.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Makes the function that returns the address of a request's client, as limits count it. */
export const makeClientOf = Effect.map(
  Origins,
  (origins) =>
    (request: Request): string =>
      countedAddress(origins.of(request).address)
)

/** Turns a refused try into a 429 that shows the limit. */
export const orTooManyAttempts =
  (request: Request) =>
  <A, E, R>(effect: Effect.Effect<A, E | TooManyAttempts, R>) =>
    Effect.catchTag(effect as Effect.Effect<A, TooManyAttempts, R>, "TooManyAttempts", ({ attemptsMax, retryAt }) =>
      RateLimit.refuse(request, attemptsMax, retryAt)
    ) as Effect.Effect<A, Exclude<E, TooManyAttempts> | Effect.Error<ReturnType<typeof RateLimit.refuse>>, R>

/** Makes the function that returns the address in a body. A national number has the organization's country. */
export const makeAddressIn = Effect.gen(function* () {
  const organizations = yield* Organizations
  return Effect.fnUntraced(function* (tenant: Tenant, sent: SentAddress) {
    if (typeof sent.email === "string" || typeof sent.defaultCountry === "string") return yield* addressOf(sent)
    const { settings } = Option.getOrThrow(yield* organizations.find(tenant.organizationId))
    return yield* addressOf({ ...sent, defaultCountry: settings.defaultCountry ?? null })
  })
})

/** Makes the function that sends a code. Its answer is the same whether or not there is such a consumer. */
export const makeSendCode = Effect.gen(function* () {
  const codes = yield* OneTimeCodes
  const delivery = yield* Delivery
  const addressIn = yield* makeAddressIn
  const clientOf = yield* makeClientOf
  const admitSms = yield* makeAdmitSms
  const organizations = yield* Organizations
  const brandOf = ({ organizationId }: Tenant) =>
    Effect.map(organizations.find(organizationId), (found) => {
      const { name } = Option.getOrThrow(found)
      return name === unnamedOrganization ? undefined : name
    })

  return Effect.fnUntraced(function* (request: Request, payload: SentAddress) {
    const { tenant } = yield* CurrentTenant
    const client = clientOf(request)
    const address = yield* addressIn(tenant, payload)
    if (!delivery.canSend(address.channel)) return yield* new ServiceUnavailable({ retryAfterSeconds: 60 })
    if (address.channel === "phone") yield* admitSms(tenant, address, client, payload)
    const { requestId, code } = yield* codes.request(tenant, address, client)
    const isTaken = yield* delivery.send(
      Message.oneTimeCode({
        tenant,
        channel: address.channel,
        to: address.value,
        code: Redacted.value(code),
        minutes: codeMinutes,
        brand: yield* brandOf(tenant)
      })
    )
    // No more messages can wait.
    if (!isTaken) return yield* new ServiceUnavailable({ retryAfterSeconds: 5 })
    return { ok: true, requestId } as const
  })
})

/** Makes the check of a code by SMS: its country, and the organization's cap for the day. */
const makeAdmitSms = Effect.gen(function* () {
  const organizations = yield* Organizations
  const attempts = yield* AttemptLimits
  const events = yield* SecurityEvents

  return Effect.fnUntraced(function* (tenant: Tenant, address: Address, client: string, payload: SentAddress) {
    const { settings } = Option.getOrThrow(yield* organizations.find(tenant.organizationId))
    const country = countryOf(address.value)
    const refused = (reason: string) =>
      events.record(tenant, {
        type: "sms_refused",
        clientAddress: client,
        details: { reason, country: country ?? "none" }
      })
    if (!takesSms(settings, country)) {
      yield* refused("country")
      const countries = settings.smsCountries ?? [settings.defaultCountry]
      const expected = `a phone number of one of these countries: ${countries.join(", ")}`
      return yield* Effect.fail(
        invalidInput([issueAt({ ...payload }, "phone", { kind: "validation", type: "phone", expected })])
      )
    }
    yield* attempts
      .take(tenant, smsAttempt(settings.smsCodesPerDay ?? defaultSmsCodesPerDay, client))
      .pipe(Effect.tapErrorTag("TooManyAttempts", ({ limit }) => refused(limit)))
  })
})

export const orInvalidCode = answering({
  WrongCode: ({ reason }: WrongCode) => new InvalidOneTimeCode({ error: reason, message: wrongCodes[reason] })
})

const wrongCodes = {
  otp_invalid: "The code is wrong.",
  otp_expired: "The code has expired or was used. Request a new one."
} as const
