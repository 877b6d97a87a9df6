/** Creates a draw for an existing queue's experience through Usher's own journal, like the Admin API. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import type { MechanismIdentity } from "../../src/domain/mechanism/Mechanism.ts"
import { withJournal } from "./UsherStore.ts"

/** The initial distance of the draw's time. */
const farMillis = 24 * 3_600_000

/** Creates an open draw in the sequence of the queue `queueId`, in the database at `url`. Returns its id. */
export function createDraw(url: string, queueId: string, winnerCount: number): Promise<string> {
  const id = randomUUID()
  const create = Effect.gen(function* () {
    const journal = yield* Journal
    const head = yield* journal.head(queueId)
    if (head === undefined) return yield* Effect.die(new Error(`No queue ${queueId}`))
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
    yield* journal.create([
      creationOf({ ...(head.identity as MechanismIdentity), id, kind: "draw" }, configuration, "bench", now)
    ])
    return id
  })
  return withJournal(url, create)
}
