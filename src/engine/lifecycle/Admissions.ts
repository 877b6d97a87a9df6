/**
 * Admits the next consumers of a queue by count. Thousands of admissions in one commit would delay every caller of the
 * process, so they are made in commits of a bounded size, one after another.
 */
import { Effect } from "effect"
import type { StaffReason } from "../../domain/mechanism/Author.ts"
import type { MechanismRef, RefusalOf } from "../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../Engine.ts"
import { makeMutex } from "./Mutex.ts"

/** Admissions in one commit. It equals the commands in one commit. */
const admissionsPerCommit = 1_000

/** The author of an admission, and the reason. */
interface Admitting {
  readonly by: string
  readonly reason?: StaffReason | undefined
}

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  // Several at once would share one commit, which requests at other nodes may do: it is only longer then.
  const oneAtATime = makeMutex()

  /**
   * Admits the next `count` in the queue's order. Returns the consumers that were admitted, in this order. There are
   * fewer if fewer wait or may be admitted, or if the queue cannot continue. Fails only if no consumer was admitted.
   */
  const admitNext = Effect.fnUntraced(function* (
    queue: MechanismRef<"queue">,
    count: number,
    admitting: Admitting
  ): Effect.fn.Return<ReadonlyArray<string>, RefusalOf<"queue"> | EngineError> {
    const admitted: Array<string> = []
    while (admitted.length < count) {
      const wanted = Math.min(admissionsPerCommit, count - admitted.length)
      const next = yield* engine.sendAdmin(queue, { _tag: "AdmitNext", count: wanted, ...admitting }).pipe(
        Effect.map(({ consumerIds }) => consumerIds),
        // The earlier admissions are committed, and the caller must learn of them.
        Effect.catch((error) => (admitted.length > 0 ? Effect.succeed([]) : Effect.fail(error)))
      )
      admitted.push(...next)
      if (next.length < wanted) break
    }
    return admitted
  })

  return (queue: MechanismRef<"queue">, count: number, admitting: Admitting) =>
    oneAtATime(queue.id, admitNext(queue, count, admitting))
})
