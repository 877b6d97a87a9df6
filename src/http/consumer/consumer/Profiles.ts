/** The handlers of consumers. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Address } from "../../../domain/consumer/Address.ts"
import { ConsumerSessions, type ListedSession } from "../../../auth/sessions/ConsumerSessions.ts"
import { OneTimeCodes } from "../../../auth/codes/OneTimeCodes.ts"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Settings } from "../../../domain/consumer/Consumer.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { ConsumerRecords } from "../../../store/consumer/ConsumerRecords.ts"
import * as Store from "../../../store/consumer/Profiles.ts"
import type { SentAddress } from "../../fields/AddressFields.ts"
import { CurrentConsumer, CurrentTenant } from "../../../api/Credentials.ts"
import { Forbidden } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { orKeyTaken, orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeAddressIn, makeClientOf, orTooManyAttempts, orInvalidCode } from "./Codes.ts"
import type { ChangeProfile } from "../../../api/consumer/ProfileApi.ts"

/** The handlers of the group `consumers`. They need the records of consumers, their sessions and one-time codes. */
export const layer = HttpApiBuilder.group(ConsumerApi, "consumers", (handlers) =>
  Effect.gen(function* () {
    const profiles = yield* Store.Profiles
    const sessions = yield* ConsumerSessions
    const change = yield* makeChange

    const profile = Effect.fnUntraced(
      function* (tenant: Tenant, consumerId: string) {
        const { places, ...consumer } = yield* profiles.find(tenant, consumerId)
        return { ...consumer, places: places.map(({ fields, ...place }) => ({ ...fields, ...place })) }
      },
      orNotFound,
      orServiceUnavailable
    )

    return handlers.handleAll({
      me: () => Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => profile(tenant, consumerId)),

      changeMe: Effect.fnUntraced(
        function* ({ payload, request }) {
          const { tenant, consumerId } = yield* CurrentConsumer
          yield* orTooManyAttempts(request)(change(request, payload))
          return yield* profile(tenant, consumerId)
        },
        orInvalidCode,
        orKeyTaken,
        orNotFound,
        orServiceUnavailable
      ),

      mySessions: Effect.fnUntraced(function* () {
        const { tenant, consumerId, sessionId } = yield* CurrentConsumer
        const shown = yield* sessions.shown(tenant, consumerId, sessionId)
        return { data: shown.map((session) => seenFrom(sessionId, session)) }
      }, orServiceUnavailable),

      endMySessions: Effect.fnUntraced(
        function* () {
          const { tenant, consumerId } = yield* CurrentConsumer
          return { ended: yield* sessions.endAll(tenant, consumerId) }
        },
        orNotFound,
        orServiceUnavailable
      ),

      endMySession: Effect.fnUntraced(
        function* ({ params }) {
          const { tenant, consumerId, sessionId } = yield* CurrentConsumer
          return seenFrom(sessionId, yield* sessions.end(tenant, consumerId, params.sessionId))
        },
        orNotFound,
        orServiceUnavailable
      ),

      get: ({ params }) => Effect.flatMap(CurrentTenant, ({ tenant }) => profile(tenant, params.consumerId))
    })
  })
)

/** Makes the function that changes the consumer. A consumer that acts itself proves a new address with its code. */
const makeChange = Effect.gen(function* () {
  const records = yield* ConsumerRecords
  const codes = yield* OneTimeCodes
  const protection = yield* Protection
  const addressIn = yield* makeAddressIn
  const clientOf = yield* makeClientOf
  return Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, payload: Change) {
    const { tenant, consumerId, sessionId, isGuest, by: server } = yield* CurrentConsumer
    const known = yield* records.find(tenant, consumerId)
    const addresses = (yield* addressesOf(payload, (sent) => addressIn(tenant, sent))).filter(
      ({ channel, value }) => known[channel] !== value
    )
    const by = server ?? `consumer:${consumerId}`
    const changed = records.change(tenant, consumerId, by, (settings) => revised(settings, payload, addresses))
    const [address] = addresses
    if (sessionId === undefined || address === undefined) yield* changed
    else {
      if (isGuest) return yield* guestsHaveNoAddress
      const { requestId } = payload
      const shown = { address, code: yield* codeFor(addresses, payload), requestId, client: clientOf(request) }
      yield* codes.prove(tenant, shown, { consumerId, sessionId }, changed)
    }
    yield* protection.consumersChanged([consumerId])
  })
})

type Change = typeof ChangeProfile.Type

/** The addresses in the body, in their normal form. */
const addressesOf = <E>(
  { email, phone, defaultCountry }: Change,
  addressIn: (sent: SentAddress) => Effect.Effect<Address, E>
) =>
  Effect.all([
    ...(email === undefined ? [] : [addressIn({ email })]),
    ...(phone === undefined ? [] : [addressIn({ phone, defaultCountry: defaultCountry ?? null })])
  ])

/** The code that was sent to the new address. Fails with a 400 if the body has none, or has two new addresses. */
const codeFor = (addresses: ReadonlyArray<Address>, payload: Change) => {
  const { code } = payload
  if (addresses.length > 1) {
    const expected = "one new address at a time, with the code that was sent to it"
    return Effect.fail(invalidInput([issueAt(payload, "phone", { kind: "validation", type: "phone", expected })]))
  }
  if (code !== undefined) return Effect.succeed(code)
  const expected = "the code that was sent to the new address"
  return Effect.fail(invalidInput([issueAt(payload, "code", { kind: "schema", type: "string", expected })]))
}

const guestsHaveNoAddress = new Forbidden({
  error: "A guest has no address of its own: sign in with POST /auth/otp/verify"
})

/** The settings with the names and addresses of the body. Null removes a name. */
const revised = (settings: Settings, { name, fullName }: Change, addresses: ReadonlyArray<Address>): Settings => {
  const sent = {
    ...settings,
    ...(name !== undefined && { name }),
    ...(fullName !== undefined && { fullName }),
    ...Object.fromEntries(addresses.map(({ channel, value }) => [channel, value]))
  }
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null)) as Settings
}

/** A session as the consumer sees it. `currentId` is the session of the request. */
const seenFrom = (currentId: string | undefined, session: ListedSession) => ({
  ...session,
  current: session.id === currentId
})
