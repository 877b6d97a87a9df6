/** A clock that goes as the real one does, and can be put forward: for what takes longer than a test may. */
import { Clock, Duration, Effect, Layer } from "effect"

/** Time-outs and heartbeats: they are not cut short when the clock is put forward. */
const realMillisMax = 10_000

/** How often a sleeper looks at a clock that may have been put forward meanwhile. */
const lookMillis = 10

/** The clock as a layer, to be provided below everything that tells time; and how to put it forward. */
export const movableClock = () => {
  const real = Clock.Clock.defaultValue()
  let aheadMillis = 0

  const sleepUntil = (at: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const millis = at - clock.currentTimeMillisUnsafe()
      if (millis <= 0) return Effect.yieldNow
      return Effect.andThen(
        real.sleep(Duration.millis(Math.min(millis, lookMillis))),
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
