import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hasStopped } from "../../../src/engine/actor/Actor.ts"
import * as Registry from "../../../src/engine/registry/Registry.ts"
import { release } from "../../../src/domain/values/Release.ts"
import { CurrentRelease } from "../../../src/store/coordination/CurrentRelease.ts"
import { FormatVersion } from "../../../src/store/coordination/FormatVersion.ts"
import { type Commit, Journal } from "../../../src/store/journal/Journal.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { byHand, consumer, createQueue, enter, layerJournal, queueId } from "../engineFixture.ts"

/** A commit with the entry of one consumer, after the queue's creation. */
const entries = (n: number): Commit => ({
  mechanismId: queueId(1),
  kind: "queue",
  expectedSequence: 1,
  events: [{ _tag: "Entered", at: 1, consumerId: consumer(n) }],
  places: [],
  wakeAt: null
})

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

it.effect("a mechanism whose journal needs a newer release is left alone, and neither taken over nor parked", () =>
  Effect.gen(function* () {
    const takenOver: Array<string> = []
    const registry = yield* Registry.make({
      owns: () => true,
      takeOver: (heads) =>
        Effect.sync(() => {
          takenOver.push(...heads.map(({ identity }) => identity.id))
          return heads
        })
    })
    yield* createQueue(1, byHand)
    yield* (yield* Journal).append({ ...entries(1), formatVersion: release.level[1] + 1 })
    yield* registry.startUnfinished
    for (let attempt = 0; attempt < 20; attempt++) {
      const refused = yield* Effect.flip(registry.acquire(queueId(1)))
      assert(refused instanceof Unavailable)
      assert.strictEqual(
        refused.cause,
        `the mechanism's journal needs a release that reads level ${release.level[1] + 1}`
      )
    }
    assert.deepStrictEqual([takenOver, registry.parked(), registry.running(queueId(1))], [[], [], undefined])

    // A release that reads the version runs it.
    const newer = { ...release, level: [1, release.level[1] + 1] } as const
    const other = yield* Effect.provideService(Registry.make(), CurrentRelease, newer)
    assert.isDefined(yield* other.acquire(queueId(1)))
  }).pipe(Effect.provide(layerJournal))
)

it.effect("a commit has the format version that the installation writes at that moment", () =>
  Effect.gen(function* () {
    const formatVersion = { current: 1 }
    const registry = yield* Effect.provideService(Registry.make(), FormatVersion, formatVersion)
    yield* createQueue(1, byHand)
    const actor = yield* registry.acquire(queueId(1))
    const versions: Array<number | undefined> = []
    for (const [consumer, current] of [
      [1, 1],
      [2, 2]
    ] as const) {
      formatVersion.current = current
      yield* actor!.send(enter(consumer))
      versions.push((yield* (yield* Journal).head(queueId(1)))?.formatVersion)
    }
    assert.deepStrictEqual(versions, [1, 2])
  }).pipe(Effect.provide(layerJournal))
)
