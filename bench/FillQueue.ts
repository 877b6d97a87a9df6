/**
 * Fills a queue with consumers that wait, quickly but truly: through Usher's own journal, in commits of ten thousand, so
 * that what is in the database is what entries over HTTP would have left there.
 */
import { Effect } from "effect"
import { Journal } from "../src/store/Journal.ts"
import { consumerId } from "./Tokens.ts"
import * as Progress from "./Progress.ts"
import { withJournal } from "./UsherStore.ts"

const block = 10_000

/** Lets `count` consumers enter the queue of the database at `url`, in which nobody is yet. */
export function fillQueue(url: string, queueId: string, count: number): Promise<void> {
  const fill = Effect.gen(function* () {
    const journal = yield* Journal
    const head = yield* journal.head(queueId)
    if (head === undefined) return yield* Effect.die(new Error(`No queue ${queueId}`))
    for (let entered = 0; entered < count; entered += block) {
      Progress.show(`filling a queue: ${entered} of ${count}`)
      const at = Date.now()
      const consumers = Array.from({ length: Math.min(block, count - entered) }, consumerId)
      yield* journal.append({
        mechanismId: queueId,
        kind: "queue",
        expectedSequence: head.sequence + entered,
        events: consumers.map((id) => ({ _tag: "Entered", at, consumerId: id })),
        places: consumers.map((id) => ({ consumerId: id, status: "QUEUED", enteredAt: at, updatedAt: at, fields: {} })),
        wakeAt: head.wakeAt
      })
    }
  })
  return withJournal(url, fill)
}
