/**
 * An actor's timer. It rings once, at the earliest instant for which it was set. It may ring when nothing is due, so
 * the actor checks its state.
 */
import { type Clock, Effect, FiberHandle } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import * as Time from "../../store/coordination/Time.ts"

export interface Timer {
  /**
   * Sets the timer for `at`, relative to `now`. For an instant in the past it rings after the other fibers that are
   * ready have run. Undefined: there is nothing to wake for.
   */
  readonly set: (at: Millis | undefined, now: Millis) => Effect.Effect<void>
}

/** Creates a timer on the clock of an actor. It calls `ring` while the scope is open. */
export const make = Effect.fnUntraced(function* (ring: () => void, clock: Clock.Clock) {
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
      // While a test clock stands still, its next step wakes the actor.
      if ((setFor !== undefined && setFor <= at) || Time.standsStill(clock)) return Effect.void
      setFor = at
      return Effect.asVoid(FiberHandle.run(sleeper, Effect.andThen(Effect.sleep(at - now), ringOnce)))
    })

  return { set } satisfies Timer
})
