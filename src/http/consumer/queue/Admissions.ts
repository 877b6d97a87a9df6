/**
 * Admitting the next consumers of a queue by count. Thousands of admissions in one commit would hold up every caller that is
 * served by the process, so they are made in commits of a bounded size, one after the other.
 */
import { Effect } from "effect"
import type { MechanismRef, RefusalOf } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { makeOneAtATime } from "../../server/OneAtATime.ts"

/** Admissions in one commit: as many as there are commands in one. */
const admissionsPerCommit = 1_000

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  // Several at once would come in one commit together.
  const oneAtATime = makeOneAtATime()

  /**
   * Admits the next `count` in the queue's order; answers who was admitted, in this order. Fewer are if fewer wait or may be
   * admitted, or if the queue cannot go on. Fails only when nobody was admitted.
   */
  const admitNext = Effect.fnUntraced(function* (
    queue: MechanismRef<"queue">,
    count: number,
    by: string
  ): Effect.fn.Return<ReadonlyArray<string>, RefusalOf<"queue"> | EngineError> {
    const admitted: Array<string> = []
    while (admitted.length < count) {
      const wanted = Math.min(admissionsPerCommit, count - admitted.length)
      const next = yield* engine.sendAdmin(queue, { _tag: "AdmitNext", count: wanted, by }).pipe(
        Effect.map(({ consumerIds }) => consumerIds),
        // Who was admitted before is admitted, and the caller must learn it.
        Effect.catch((error) => (admitted.length > 0 ? Effect.succeed([]) : Effect.fail(error)))
      )
      admitted.push(...next)
      if (next.length < wanted) break
    }
    return admitted
  })

  return (queue: MechanismRef<"queue">, count: number, by: string) => oneAtATime(queue.id, admitNext(queue, count, by))
})
