/** A draw beside a queue that is there, as the Admin API would have created it: through Usher's own journal. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { withJournal } from "./UsherStore.ts"

/** So far off is its time, until it is changed. */
const farMillis = 24 * 3_600_000

/** Creates an open draw beside the queue `besideId`, in the database at `url`; answers its id. */
export function createDraw(url: string, besideId: string, winnerCount: number): Promise<string> {
  const id = randomUUID()
  const create = Effect.gen(function* () {
    const journal = yield* Journal
    const head = yield* journal.head(besideId)
    if (head === undefined) return yield* Effect.die(new Error(`No queue ${besideId}`))
    const now = Date.now()
    const configuration = {
      name: "Bench",
      timeZone: "UTC",
      closeAt: now + farMillis,
      drawAt: now + farMillis,
      supportsGuest: true,
      winnerCount,
      continueSelectingUntilCompleted: false,
      loyaltyBiasEnabled: false,
      loyaltyWeight: 1
    }
    yield* journal.create([creationOf({ ...head.identity, id, kind: "draw" }, configuration, "bench", now)])
    return id
  })
  return withJournal(url, create)
}
