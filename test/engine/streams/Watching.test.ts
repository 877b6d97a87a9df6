import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Engine } from "../../../src/engine/Engine.ts"
import { byHand, createQueue, enter, Hands, layerJournal, queue, queueId, stranger } from "../engineFixture.ts"

const services = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

describe("Watching a mechanism", () => {
  it.effect("reports changes of the mechanism itself, and no other changes", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      yield* engine.start(queueId(1))
      let changes = 0
      const unwatch = engine.watch(queueId(1), () => changes++)
      yield* engine.send(queue(1), enter(1))
      assert.strictEqual(changes, 0)
      yield* engine.sendAdmin(queue(1), { _tag: "Configure", configuration: { ...byHand, name: "x" }, by: "x" })
      assert.strictEqual(changes, 1)
      unwatch()
      yield* engine.sendAdmin(queue(1), { _tag: "End", by: "x" })
      assert.strictEqual(changes, 1)
    }).pipe(Effect.provide(services))
  )

  it.effect("reports a rebuild, also to watchers from before the first start", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const { failNext } = yield* Hands
      yield* createQueue(1, byHand)
      let changes = 0
      engine.watch(queueId(1), () => changes++)
      yield* engine.start(queueId(1))
      assert.strictEqual(changes, 1)
      yield* failNext
      yield* Effect.flip(engine.send(queue(1), enter(1)))
      yield* engine.start(queueId(1))
      assert.strictEqual(changes, 2)
    }).pipe(Effect.provide(services))
  )

  it.effect("returns a mechanism that runs in this process, and starts none", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, byHand)
      assert.isUndefined(yield* engine.peek(queue(1)))
      assert.isUndefined(yield* engine.peek(queue(2)))
      yield* engine.send(queue(1), enter(1))
      assert.deepStrictEqual(yield* engine.peek(queue(1)), yield* engine.inspect(queue(1)))
      const refused = yield* Effect.flip(engine.peek({ ...queue(1), tenant: stranger }))
      assert.strictEqual(refused._tag, "MechanismNotFound")
    }).pipe(Effect.provide(services))
  )
})
