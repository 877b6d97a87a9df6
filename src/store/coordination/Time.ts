/**
 * The one place that reads the time of day. An organization's test mode may have a clock of its own
 * (`TestModeClock.ts`), so each reader says whose time it means:
 *
 * - {@link now} is the time of the tenant that an effect works for. Whatever a rule, a record or a page shows uses it.
 * - {@link serverNow} is the server's own time. It is for what protects the server or runs it: access tokens, rate limits,
 *   leases, caches and measured durations.
 */
import { Clock, Effect } from "effect"
import { serverClockOf, TestModeClock } from "./TestModeClock.ts"

/** The time of the tenant, in milliseconds. */
export const now = Clock.currentTimeMillis

/** The clock that {@link now} reads, for what outlives the effect that asks for it. */
export const clock: Effect.Effect<Clock.Clock> = Clock.Clock

/** The server's clock, also where an effect runs in the time of a tenant. */
export const serverClock: Effect.Effect<Clock.Clock> = Effect.map(Clock.Clock, serverClockOf)

/** True if the clock shows a test clock, whose time passes by steps alone. */
export const standsStill = (shown: Clock.Clock): boolean => shown instanceof TestModeClock && shown.standsStill

/** The server's time, in milliseconds. */
export const serverNow: Effect.Effect<number> = Effect.flatMap(serverClock, (server) => server.currentTimeMillis)

/**
 * Runs an effect in the server's time. For a look-up in a cache, whose entries would never expire while a test clock
 * stands still.
 */
export const inServerTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(serverClock, (server) => Effect.provideService(effect, Clock.Clock, server))

/** Like `Effect.cachedWithTTL`, with an effect that runs in the time of its first caller and expires by the server's. */
export const cachedForMillis = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  millis: number
): Effect.Effect<Effect.Effect<A, E, R>> =>
  Effect.flatMap(clock, (own) =>
    Effect.map(Effect.cachedWithTTL(Effect.provideService(effect, Clock.Clock, own), millis), inServerTime)
  )
