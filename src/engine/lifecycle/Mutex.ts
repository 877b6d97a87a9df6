/** Runs effects for one mechanism one after another, in this process. Other nodes are not excluded. */
import { type Effect, Semaphore } from "effect"
import { withPermitTimeout } from "../../store/postgres/PermitTimeout.ts"

/** Locks, by the last two digits of the id. There are enough that two mechanisms rarely share one. */
const lockCount = 256

/**
 * Makes the function that runs an effect while this process runs no other one for the same id. It fails if its turn does
 * not come in time.
 */
export const makeMutex = () => {
  const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))
  return <A, E, R>(id: string, effect: Effect.Effect<A, E, R>) =>
    withPermitTimeout(locks[Number.parseInt(id.slice(-2), 16)]!, effect)
}
