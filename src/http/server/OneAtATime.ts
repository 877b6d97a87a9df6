/** Work on one mechanism at a time, for what must not be done twice at once in a process. */
import { type Effect, Semaphore } from "effect"
import { inTurn } from "../../store/postgres/Turn.ts"

/** Locks, by the last two digits of the id: enough that unrelated mechanisms hardly ever share one. */
const lockCount = 256

/** Answers the function that runs an effect when no other one runs for the same id, or fails if its turn does not come. */
export const makeOneAtATime = () => {
  const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))
  return <A, E, R>(id: string, effect: Effect.Effect<A, E, R>) =>
    inTurn(locks[Number.parseInt(id.slice(-2), 16)]!, effect)
}
