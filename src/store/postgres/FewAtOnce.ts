/**
 * Few of something at once, so that the connections which others need stay free; and not too many that wait.
 */
import { Effect, Semaphore } from "effect"
import { Unavailable } from "./Unavailable.ts"
import { inTurn } from "./Turn.ts"

/** Lets an effect run when it is its turn; fails at once where too many wait or run. */
export type FewAtOnce = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Unavailable, R>

/** `most` run at once, and `waitingMax` wait or run. */
export const make = (
  what: string,
  { most, waitingMax }: { readonly most: number; readonly waitingMax: number }
): Effect.Effect<FewAtOnce> =>
  Effect.map(Semaphore.make(most), (permits) => {
    let asked = 0
    return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.suspend((): Effect.Effect<A, E | Unavailable, R> => {
        if (asked >= waitingMax) return Effect.fail(new Unavailable({ cause: `too many ${what} at once` }))
        asked++
        return Effect.ensuring(
          inTurn(permits, effect),
          Effect.sync(() => void asked--)
        )
      })
  })
