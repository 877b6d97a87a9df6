/**
 * A free replacement for the credentials of the Consumer API. Every request passes as the same consumer, without checks
 * of keys and tokens and without counts.
 */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import {
  Anyone,
  ConsumerAction,
  ConsumerStream,
  CurrentConsumer,
  CurrentSession,
  CurrentTenant,
  CurrentStreamCredentials,
  GateAction,
  PublicRead,
  ServerAction,
  SessionCreation,
  SessionEnd,
  SessionUpgrade
} from "../../src/api/Credentials.ts"
import type { LimitStatus } from "../../src/http/limits/LimitStatus.ts"
import { RateLimits } from "../../src/http/limits/RateLimits.ts"
import { makeCounters } from "../../src/http/limits/RateLimit.ts"

const id = "00000000-0000-7000-8000-000000000000"
const tenant = { organizationId: id, mode: "live" } as const
const holder = { keyId: id, tenant, kind: "publishable", rateLimits: {} } as const
const consumer = { tenant, consumerId: id, isGuest: true }
const current = { tenant, by: "noop" }
const lasting = { hasEnded: () => false, areGood: () => Effect.succeed(true) }

/** The limit status of every response. */
const status: LimitStatus = { limit: 1_000_000_000, remaining: 1_000_000_000, resetAtSeconds: 0 }

const uncounted = Effect.provideService(makeCounters, RateLimits, {
  ofOperation: () => ({ pass: () => status, charge: () => status }),
  presses: () => false,
  passUnknown: () => status,
  statusOfUnknown: () => status,
  isUnknownRefused: () => false,
  byAddress: () => ({ pass: () => status, status: () => status, isRefused: () => false })
})

/** Returns a handler wrapper that admits every request of an endpoint. */
const passing = Effect.map(uncounted, (counterOf) => (endpoint: HttpApiEndpoint.Top) => {
  const count = counterOf("consumer", endpoint)
  return <A, E, R>(handle: Effect.Effect<A, E, R>) =>
    Effect.withFiber<A, E, R>((fiber) =>
      Effect.andThen(count(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest), holder), handle)
    )
})

/** Returns a middleware that provides a constant. */
const providing = <I, S>(key: Context.Key<I, S>, service: S) =>
  Effect.map(
    passing,
    (passes) =>
      <A, E, R>(handle: Effect.Effect<A, E, R | I>, { endpoint }: { readonly endpoint: HttpApiEndpoint.Top }) =>
        passes(endpoint)(Effect.provideService(handle, key, service))
  )

export const layer = Layer.mergeAll(
  Layer.succeed(Anyone, (handle) => handle),
  Layer.effect(PublicRead, providing(CurrentTenant, current)),
  Layer.effect(SessionCreation, providing(CurrentTenant, current)),
  Layer.effect(
    SessionUpgrade,
    Effect.map(
      providing(CurrentTenant, current),
      (provide) => (handle, options) => provide(Effect.provideService(handle, CurrentSession, {}), options)
    )
  ),
  Layer.effect(SessionEnd, providing(CurrentSession, {})),
  Layer.effect(ConsumerAction, providing(CurrentConsumer, consumer)),
  Layer.effect(
    ConsumerStream,
    Effect.map(
      providing(CurrentConsumer, consumer),
      (provide) => (handle, options) =>
        provide(Effect.provideService(handle, CurrentStreamCredentials, lasting), options)
    )
  ),
  Layer.effect(ServerAction, providing(CurrentTenant, current)),
  Layer.effect(GateAction, providing(CurrentTenant, current))
)
