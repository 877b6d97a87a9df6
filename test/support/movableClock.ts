/** A clock that runs like the real one and can be advanced, for waits that are too long for a test. */
import { Clock, Duration, Effect, Layer } from "effect"

/** Sleeps up to this length, such as time-outs and heartbeats, are not shortened when the clock is advanced. */
const realMillisMax = 10_000

/** How often a longer sleep checks whether the clock was advanced. */
const checkMillis = 10

/**
 * Returns the clock as a layer, and a function that advances it. Provide the layer below everything that reads the
 * time.
 */
export const movableClock = () => {
  const real = Clock.Clock.defaultValue()
  let aheadMillis = 0

  const sleepUntil = (at: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const millis = at - clock.currentTimeMillisUnsafe()
      if (millis <= 0) return Effect.yieldNow
      return Effect.andThen(
        real.sleep(Duration.millis(Math.min(millis, checkMillis))),
        Effect.suspend(() => sleepUntil(at))
      )
    })

  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + aheadMillis,
    currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe()),
    currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe() + BigInt(aheadMillis) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => clock.currentTimeNanosUnsafe()),
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) =>
      Duration.toMillis(duration) <= realMillisMax
        ? real.sleep(duration)
        : Effect.suspend(() => sleepUntil(clock.currentTimeMillisUnsafe() + Duration.toMillis(duration)))
  }

  return {
    layer: Layer.succeed(Clock.Clock, clock),
    now: () => clock.currentTimeMillisUnsafe(),
    putForward: (millis: number) => Effect.sync(() => void (aheadMillis += millis))
  }
}
