/**
 * Fills a mechanism with consumers through Usher's own journal, in commits of ten thousand. The database then contains
 * the same rows as after entries over HTTP.
 */
import { Effect } from "effect"
import { Journal } from "../../src/store/journal/Journal.ts"
import { consumerId } from "./Tokens.ts"
import * as Progress from "../report/Progress.ts"
import { withJournal } from "./UsherStore.ts"

/** Default number of entries in one commit. */
const blockDefault = 10_000

/** The status of a consumer after its entry. */
const statuses = { queue: "QUEUED", draw: "ENTERED" } as const

/**
 * Enters `count` consumers into an empty mechanism of the database at `url`. Returns the seconds from the first append to the
 * answer of the last.
 */
export function fill(
  url: string,
  kind: keyof typeof statuses,
  mechanismId: string,
  count: number,
  block = blockDefault
): Promise<{ readonly appendSeconds: number }> {
  const status = statuses[kind]
  const entries = Effect.gen(function* () {
    const journal = yield* Journal
    const head = yield* journal.head(mechanismId)
    if (head === undefined) return yield* Effect.die(new Error(`No ${kind} ${mechanismId}`))
    const all = Array.from({ length: count }, consumerId)
    const from = performance.now()
    for (let entered = 0; entered < count; entered += block) {
      Progress.show(`filling a ${kind}: ${entered} of ${count}`)
      const at = Date.now()
      const consumers = all.slice(entered, entered + block)
      yield* journal.append({
        mechanismId,
        kind,
        expectedSequence: head.sequence + entered,
        events: consumers.map((id) => ({ _tag: "Entered", at, consumerId: id })),
        places: consumers.map((id) => ({ consumerId: id, status, enteredAt: at, updatedAt: at, fields: {} })),
        wakeAt: head.wakeAt
      })
    }
    return { appendSeconds: (performance.now() - from) / 1000 }
  })
  return withJournal(url, entries)
}
