import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasStopped } from "../../../src/engine/actor/Actor.ts"
import * as Registry from "../../../src/engine/registry/Registry.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { byHand, createQueue, layerJournal, queueId } from "../engineFixture.ts"

it.effect("a mechanism that is lost during its takeover is reported as unavailable, not as unknown", () =>
  Effect.gen(function* () {
    const registry = yield* Registry.make({ owns: () => true, takeOver: () => Effect.succeed([]) })
    yield* createQueue(1, byHand)
    const refused = yield* Effect.flip(registry.acquire(queueId(1)))
    assert(refused instanceof Unavailable)
    assert.strictEqual(refused.cause, hasStopped)
    assert.isUndefined(yield* registry.acquire(queueId(2)))
  }).pipe(Effect.provide(layerJournal))
)
