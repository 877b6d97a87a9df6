import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasStopped } from "../../../src/engine/actor/Actor.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { byHand, consumer, createQueue, layerJournal, anotherEngine, queue, queueId } from "../engineFixture.ts"

it.effect("an engine that has ended answers every caller at once that it tried nothing", () =>
  Effect.gen(function* () {
    yield* createQueue(1, byHand)
    const { engine, close } = yield* anotherEngine("here")
    assert.deepInclude(yield* engine.view(queue(), consumer(1)), { status: "NOT_QUEUED" })
    yield* close
    for (const asked of [queue(), { ...queue(), id: queueId(2) }]) {
      const refused = yield* Effect.flip(engine.view(asked, consumer(1)))
      assert(refused instanceof Unavailable)
      assert.strictEqual(refused.cause, hasStopped)
    }
  }).pipe(Effect.provide(layerJournal))
)
