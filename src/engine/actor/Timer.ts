/**
 * An actor's timer: rings once, at the earliest instant it was set for. It may ring when nothing is due any more; whoever
 * hears it looks.
 */
import { Effect, FiberHandle } from "effect"
import type { Millis } from "../../domain/values/Time.ts"

export interface Timer {
  /**
   * Sets it for `at`, seen from `now`; for the past it rings as soon as whatever else waits for this process has had its
   * turn. Undefined: there is nothing to wake for.
   */
  readonly set: (at: Millis | undefined, now: Millis) => Effect.Effect<void>
}

/** An alarm that calls `ring`, for as long as the scope lives. */
export const make = Effect.fnUntraced(function* (ring: () => void) {
  const sleeper = yield* FiberHandle.make<void>()
  let setFor: Millis | undefined

  const ringOnce = Effect.sync(() => {
    setFor = undefined
    ring()
  })

  const set: Timer["set"] = (at, now) =>
    Effect.suspend(() => {
      if (at === undefined) return Effect.void
      if (at <= now) return Effect.andThen(Effect.yieldNow, Effect.sync(ring))
      if (setFor !== undefined && setFor <= at) return Effect.void
      setFor = at
      return Effect.asVoid(FiberHandle.run(sleeper, Effect.andThen(Effect.sleep(at - now), ringOnce)))
    })

  return { set } satisfies Timer
})
