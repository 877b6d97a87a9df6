/**
 * Limits how many effects of one sort run at once, so that connections stay free for other work. Also limits how many
 * wait.
 */
import { Effect, Semaphore } from "effect"
import { Unavailable } from "./Unavailable.ts"
import { withPermitTimeout } from "./PermitTimeout.ts"

/** Runs an effect when it is its turn. Fails immediately if too many wait or run. */
export type ConcurrencyLimit = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>

/** Makes a limiter: `most` effects run at once, and at most `waitingMax` wait or run, each
 * for `waitingSecondsMax`. */
export const make = (
  what: string,
  options: { readonly most: number; readonly waitingMax: number; readonly waitingSecondsMax?: number }
): Effect.Effect<ConcurrencyLimit> =>
  Effect.map(Semaphore.make(options.most), (permits) => {
    let pending = 0
    return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | Unavailable, R> => {
        if (pending >= options.waitingMax) return Effect.fail(new Unavailable({ cause: `too many ${what} at once` }))
        pending++
        return Effect.ensuring(
          withPermitTimeout(permits, effect, options.waitingSecondsMax),
          Effect.sync(() => void pending--)
        )
      })
  })
