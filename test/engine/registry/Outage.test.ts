import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Engine, make, lastCommittedView } from "../../../src/engine/Engine.ts"
import * as Registry from "../../../src/engine/registry/Registry.ts"
import { byHand, consumer, createQueue, enter, Hands, layerJournal, leave, queue, stranger } from "../engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

type EngineService = Engine["Service"]

/** Creates a queue in which consumers 1 to 4 wait. */
const fourWait = Effect.fnUntraced(function* (engine: EngineService) {
  yield* createQueue(1, byHand)
  for (const n of [1, 2, 3, 4]) yield* engine.send(queue(), enter(n))
})

/** Returns the positions of consumers, or the errors. */
const positions = (engine: EngineService, ...consumers: ReadonlyArray<number>) =>
  Effect.forEach(consumers, (n) =>
    Effect.match(engine.viewForStatus(queue(), consumer(n)), {
      onSuccess: (view) => ("position" in view ? view.position : view.status),
      onFailure: ({ _tag }) => _tag
    })
  )

describe("a mechanism whose journal is unreachable", () => {
  it.effect("shows waiting consumers their committed places, but not those whose write failed", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { cut } = yield* Hands
      yield* fourWait(engine)
      const mend = yield* cut
      const failed = yield* Effect.forEach(
        [leave(2), enter(5)],
        (command) => Effect.flip(engine.send(queue(), command)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        failed.map(({ _tag }) => _tag),
        ["Unavailable", "Unavailable"]
      )
      assert.deepStrictEqual(yield* positions(engine, 1, 2, 3, 4, 5), [1, "Unavailable", 3, 4, "Unavailable"])
      assert.deepStrictEqual(yield* positions(engine, 6), ["NOT_QUEUED"])
      assert.strictEqual((yield* Effect.flip(engine.inspect(queue())))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(engine.send(queue(), leave(1))))._tag, "Unavailable")
      yield* mend
      yield* engine.inspect(queue())
      assert.deepStrictEqual(yield* positions(engine, 1, 2, 3, 4, 5), [1, 2, 3, 4, "NOT_QUEUED"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("shows the former place to a reader that waits for the write that fails", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { failNext, hold } = yield* Hands
      yield* fourWait(engine)
      const release = yield* hold
      yield* failNext
      const writing = yield* Effect.forkChild(Effect.exit(engine.send(queue(), leave(1))), { startImmediately: true })
      const reading = yield* Effect.forkChild(positions(engine, 3), { startImmediately: true })
      yield* Effect.yieldNow
      yield* release
      assert.deepStrictEqual(yield* Fiber.join(reading), [3])
      yield* Fiber.join(writing)
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers no reader if the failed write concerned the mechanism itself", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { cut } = yield* Hands
      yield* fourWait(engine)
      yield* cut
      yield* Effect.flip(engine.sendAdmin(queue(), { _tag: "End", by: "test" }))
      assert.deepStrictEqual(yield* positions(engine, 1, 6), ["Unavailable", "Unavailable"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers no reader after a minute", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { cut } = yield* Hands
      yield* fourWait(engine)
      yield* cut
      yield* Effect.flip(engine.send(queue(), leave(4)))
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* positions(engine, 1), [1])
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* positions(engine, 1), ["Unavailable"])
    }).pipe(Effect.provide(layer))
  )

  it.effect("answers no reader on a node that no longer owns it", () =>
    Effect.gen(function* () {
      const { cut } = yield* Hands
      let isHeld = true
      const registry = yield* Registry.make({ owns: () => isHeld, takeOver: Effect.succeed })
      const engine = make("here", registry, yield* Clock.currentTimeMillis)
      yield* fourWait(engine)
      yield* cut
      yield* Effect.flip(engine.send(queue(), leave(4)))
      assert.deepStrictEqual(yield* positions(engine, 1), [1])
      isHeld = false
      assert.deepStrictEqual(yield* positions(engine, 1), ["Unavailable"])
      yield* registry.release(() => true)
      isHeld = true
      assert.deepStrictEqual(yield* positions(engine, 1), ["Unavailable"])
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("is shown by its last owner with the instant until which nobody else can have owned it, for a minute", () =>
    Effect.gen(function* () {
      const { cut } = yield* Hands
      let endedAt: number | undefined
      let isHeld = true
      const registry = yield* Registry.make({ owns: () => isHeld, endedAt: () => endedAt, takeOver: Effect.succeed })
      const engine = make("here", registry, yield* Clock.currentTimeMillis)
      const recalled = (n: number) => lastCommittedView(registry, queue(), consumer(n)) ?? Effect.succeed(undefined)
      yield* fourWait(engine)
      yield* TestClock.adjust("10 seconds")
      assert.isUndefined(yield* recalled(1), "an owner answers what is current")
      isHeld = false
      assert.isUndefined(yield* recalled(1), "another node may own it")
      yield* cut
      endedAt = 3_000
      assert.deepInclude(yield* recalled(2), { position: 2, asOf: 3_000 })
      assert.deepInclude(yield* recalled(6), { status: "NOT_QUEUED", asOf: 3_000 })
      assert.isUndefined(lastCommittedView(registry, { ...queue(), tenant: stranger }, consumer(1)))
      assert.strictEqual((yield* Effect.flip(registry.acquire(queue().id)))._tag, "Unavailable")
      endedAt = undefined
      assert.isUndefined(yield* recalled(2))
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("shows its last owner's places except those whose write failed, as of the earlier of both instants", () =>
    Effect.gen(function* () {
      const { cut } = yield* Hands
      let endedAt: number | undefined
      let isHeld = true
      const registry = yield* Registry.make({ owns: () => isHeld, endedAt: () => endedAt, takeOver: Effect.succeed })
      const engine = make("here", registry, yield* Clock.currentTimeMillis)
      yield* fourWait(engine)
      yield* TestClock.adjust("4 seconds")
      yield* cut
      yield* Effect.flip(engine.send(queue(), leave(4)))
      assert.deepInclude(yield* engine.viewForStatus(queue(), consumer(1)), { position: 1, asOf: 4_000 })
      isHeld = false
      for (const [at, asOf] of [
        [3_000, 3_000],
        [5_000, 4_000]
      ] as const) {
        endedAt = at
        assert.deepInclude(yield* lastCommittedView(registry, queue(), consumer(3))!, { position: 3, asOf })
        assert.isUndefined(lastCommittedView(registry, queue(), consumer(4)))
      }
      yield* TestClock.adjust("60 seconds")
      assert.isUndefined(lastCommittedView(registry, queue(), consumer(3)))
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("runs again soon after the outage, without a caller", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { cut } = yield* Hands
      yield* fourWait(engine)
      const mend = yield* cut
      yield* Effect.flip(engine.send(queue(), leave(4)))
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* engine.size, 0)
      yield* mend
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* engine.size, 1)
    }).pipe(Effect.provide(layer))
  )
})
