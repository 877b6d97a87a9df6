/** Bounds how long a caller waits for its turn at a semaphore. */
import { Effect, Fiber, Semaphore } from "effect"
import { Unavailable } from "./Unavailable.ts"

/** How long a caller waits for its turn, if nothing else is said. */
const permitSecondsMax = 5

/**
 * Runs the effect once the semaphore admits it. Fails with `Unavailable` if that takes too long, because the effects
 * before it may all wait for a database that does not answer. An effect that has begun is not given up.
 */
export const withPermitTimeout = <A, E, R>(
  turn: Semaphore.Semaphore,
  effect: Effect.Effect<A, E, R>,
  secondsMax: number = permitSecondsMax
): Effect.Effect<A, E | Unavailable, R> =>
  Effect.contextWith((context) =>
    Effect.callback((resume) => {
      const fork = Effect.runForkWith(context)
      let hasBegun = false
      const begun = Effect.suspend(() => {
        hasBegun = true
        return effect
      })
      const work = fork(Semaphore.withPermit(turn, begun))
      const late = Effect.sync(() => {
        if (hasBegun) return
        work.interruptUnsafe()
        resume(Effect.fail(new Unavailable({ cause: `no turn within ${secondsMax} s` })))
      })
      const timeout = fork(Effect.andThen(Effect.sleep(secondsMax * 1_000), late))
      work.addObserver((exit) => {
        timeout.interruptUnsafe()
        resume(exit)
      })
      return Fiber.interruptAll([timeout, work])
    })
  )
