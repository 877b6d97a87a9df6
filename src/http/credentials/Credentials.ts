/**
 * Checks the callers of operations. Each middleware of `api/Credentials.ts` has its layer here. It accepts the
 * credentials of its class and provides the caller. A cached key and a cached token cost no SQL and no signature check.
 */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint, HttpApiMiddleware } from "effect/http-api"
import { StatusRead } from "../../api/Annotations.ts"
import {
  AdminKey,
  Anyone,
  ConsumerAction,
  ConsumerStream,
  CurrentConsumer,
  CurrentSession,
  CurrentStreamCredentials,
  CurrentTenant,
  GateAction,
  type keyErrors,
  PublicRead,
  ServerAction,
  SessionCreation,
  SessionEnd,
  SessionUpgrade,
  StreamKey
} from "../../api/Credentials.ts"
import { ValidationError } from "../../api/Errors.ts"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { ActingConsumer } from "./ActingConsumer.ts"
import {
  type ActingSession,
  bearerOf,
  type Check,
  type ConsumerRefusal,
  type KeyRefusal,
  makeChecks,
  nameOf
} from "./CredentialChecks.ts"
import { inTimeOf, type TestClocks } from "../../store/testClock/TestClocks.ts"
import { malformedHeader } from "../errors/Validation.ts"
import { type CountRequest, countByAddress } from "../limits/RateLimit.ts"

/** Makes a middleware that runs the operation for the tenant of the key. */
const byKey = (check: "anyKey" | "publishableKey" | "secretKey" | "gateOrSecretKey", api: "consumer" | "admin") =>
  Effect.map(
    makeChecks,
    ({ counterOf, clocks, ...checks }): HttpApiMiddleware.HttpApiMiddleware<CurrentTenant, typeof keyErrors, never> =>
      (handle, { endpoint }) =>
        withTenant(checks[check], counterOf(api, endpoint), clocks, handle)
  )

const layerPublicRead = Layer.effect(PublicRead, byKey("anyKey", "consumer"))

const layerSessionCreation = Layer.effect(SessionCreation, byKey("publishableKey", "consumer"))

const layerSessionUpgrade = Layer.effect(SessionUpgrade)(
  Effect.gen(function* () {
    const { publishableKey, accessOf, counterOf, clocks } = yield* makeChecks
    return (handle, { endpoint }) =>
      withTenant(
        publishableKey,
        counterOf("consumer", endpoint),
        clocks,
        Effect.flatMap(Effect.all([CurrentTenant, HttpServerRequest.HttpServerRequest]), ([{ tenant }, request]) =>
          Effect.flatMap(bearerOf(request) === undefined ? Effect.undefined : accessOf(request, tenant), (access) =>
            Effect.provideService(handle, CurrentSession, access === undefined ? {} : { access })
          )
        )
      )
  })
)

const layerSessionEnd = Layer.effect(SessionEnd)(
  Effect.gen(function* () {
    const { tokenAlone, counterOf, clocks } = yield* makeChecks
    return (handle, { endpoint }) => withSession(tokenAlone, counterOf("consumer", endpoint), clocks, handle)
  })
)

const layerConsumerAction = Layer.effect(ConsumerAction)(
  Effect.gen(function* () {
    const { consumer, counterOf, clocks } = yield* makeChecks
    return (handle, { endpoint }) => {
      const isStatusRead = Context.get(endpoint.annotations, StatusRead)
      return withConsumer(consumer(counterOf("consumer", endpoint), isStatusRead), endpoint, clocks, handle)
    }
  })
)

const layerConsumerStream = Layer.effect(ConsumerStream)(
  Effect.gen(function* () {
    const { consumer, lasting, counterOf, clocks } = yield* makeChecks
    return (handle, { endpoint }) =>
      withConsumer(
        consumer(counterOf("consumer", endpoint)),
        endpoint,
        clocks,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.flatMap(lasting(request), (credentials) =>
            Effect.provideService(handle, CurrentStreamCredentials, credentials)
          )
        )
      )
  })
)

const layerServerAction = Layer.effect(ServerAction, byKey("secretKey", "consumer"))

const layerGateAction = Layer.effect(GateAction, byKey("gateOrSecretKey", "consumer"))

const layerAdminKey = Layer.effect(AdminKey, byKey("secretKey", "admin"))

/** Requests of one address in a minute to operations without a credential. Few addresses belong to more callers than one. */
export const openRequestsMax = 12_000

const layerAnyone = Layer.effect(
  Anyone,
  Effect.map(
    countByAddress({ name: "open", requestsMax: openRequestsMax }),
    (admit) => (handle) => Effect.andThen(Effect.flatMap(HttpServerRequest.HttpServerRequest, admit), handle)
  )
)

const layerStreamKey = Layer.effect(StreamKey)(
  Effect.map(
    makeChecks,
    ({ lastingKey }) =>
      (handle) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
          Effect.provideService(handle, CurrentStreamCredentials, lastingKey(request))
        )
  )
)

/** The checks of the Consumer API. */
export const layerConsumer = Layer.mergeAll(
  layerAnyone,
  layerPublicRead,
  layerSessionCreation,
  layerSessionUpgrade,
  layerSessionEnd,
  layerConsumerAction,
  layerConsumerStream,
  layerServerAction,
  layerGateAction
)

/** The checks of the Admin API. */
export const layerAdmin = Layer.mergeAll(layerAdminKey, layerStreamKey)

/** Runs the operation for the tenant of the key, in its time, if its rate limits allow it. */
const withTenant = <E, R>(
  check: Check<KeyHolder, KeyRefusal>,
  count: CountRequest,
  clocks: TestClocks,
  handle: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | CurrentTenant>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.flatMap(check(request), (holder) => {
      const current = { tenant: holder.tenant, by: nameOf(holder), gate: holder.gate }
      const answer = inTimeOf(clocks, holder.tenant)(Effect.provideService(handle, CurrentTenant, current))
      return Effect.andThen(
        count(request, holder),
        Effect.map(answer, (response) => {
          count.charge(request, holder, response)
          return response
        })
      )
    })
  })

/** Runs the operation for the session, in its tenant's time, if its organization's rate limits allow it. */
const withSession = <A, E, R>(
  check: Check<ActingSession, KeyRefusal>,
  count: CountRequest,
  clocks: TestClocks,
  handle: Effect.Effect<A, E, R | CurrentSession>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    return Effect.flatMap(check(request), ({ holder, access }) => {
      const counted = count(request, holder, access.consumerId)
      const answer = Effect.provideService(handle, CurrentSession, { access })
      return Effect.andThen(counted, inTimeOf(clocks, access.tenant)(answer))
    })
  })

/** Runs the operation for the consumer, in its tenant's time. */
const withConsumer = <A, E, R>(
  check: Check<ActingConsumer, ConsumerRefusal>,
  endpoint: HttpApiEndpoint.Top,
  clocks: TestClocks,
  handle: Effect.Effect<A, E, R | CurrentConsumer>
) =>
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const checked = Effect.catchIf(
      check(request),
      (refusal) => refusal instanceof ValidationError,
      (found) => malformedHeader(endpoint, found)
    )
    return Effect.flatMap(checked, ({ consumer }) =>
      inTimeOf(clocks, consumer.tenant)(Effect.provideService(handle, CurrentConsumer, consumer))
    )
  })
