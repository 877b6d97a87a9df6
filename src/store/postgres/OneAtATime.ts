/** Work on one mechanism at a time, for work that must not run twice at once in a process. */
import { type Effect, Semaphore } from "effect"
import { inTurn } from "./Turn.ts"

/** Locks, by the last two digits of the id. There are enough that two mechanisms rarely share one. */
const lockCount = 256

/**
 * Makes the function that runs an effect while no other one runs for the same id. It fails if its turn does not come in
 * time.
 */
export const makeOneAtATime = () => {
  const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))
  return <A, E, R>(id: string, effect: Effect.Effect<A, E, R>) =>
    inTurn(locks[Number.parseInt(id.slice(-2), 16)]!, effect)
}
