/** Creates many queues like an existing one through Usher's own journal, like the Admin API. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Configuration } from "../../src/domain/queue/Queue.ts"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { withJournal } from "./UsherStore.ts"

const block = 500

const configuration: Configuration = {
  name: "Bench",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 0
}

/** Creates `count` open queues in the sequence of the queue `queueId`, in the database at `url`. Returns their ids. */
export function createQueues(url: string, queueId: string, count: number): Promise<ReadonlyArray<string>> {
  const ids = Array.from({ length: count }, () => randomUUID())
  const create = Effect.gen(function* () {
    const journal = yield* Journal
    const head = yield* journal.head(queueId)
    if (head === undefined) return yield* Effect.die(new Error(`No queue ${queueId}`))
    const now = Date.now()
    for (let from = 0; from < count; from += block) {
      const some = ids.slice(from, from + block)
      yield* journal.create(some.map((id) => creationOf({ ...head.identity, id }, configuration, "bench", now)))
    }
    return ids
  })
  return withJournal(url, create)
}
