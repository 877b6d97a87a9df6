/** The latch that the journal opens when it has written. */
import { describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { OwnCommits } from "../../../src/store/journal/OwnCommits.ts"
import { aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

describe("A worker that follows the journal", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("learns of every append that the journal has written", () =>
      Effect.gen(function* () {
        const queue = yield* aQueue(yield* aTenant())
        const ownCommits = yield* OwnCommits
        const journal = yield* Journal
        ownCommits.closeUnsafe()
        const at = Date.now()
        yield* journal.append({
          mechanismId: queue.id,
          kind: "queue",
          expectedSequence: 1,
          events: [{ _tag: "Entered", at, consumerId: randomUUID() }],
          places: [],
          wakeAt: null
        })
        // Without the append this would wait forever.
        yield* ownCommits.await
      })
    )
  })
})
