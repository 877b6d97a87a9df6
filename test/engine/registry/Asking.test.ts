/** Queries of all running mechanisms of a kind. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Engine } from "../../../src/engine/Engine.ts"
import { byHand, createQueue, enter, Hands, layerJournal, queue, tenant } from "../engineFixture.ts"

const sizes = (engine: Engine["Service"]) =>
  Effect.map(
    engine.query("queue", ({ places }) => (places.size > 0 ? places.size : undefined)),
    (said) => said.map(({ mechanism, answer }) => [mechanism.id, answer])
  )

layer(Engine.layer({ node: "test" }).pipe(Layer.provideMerge(layerJournal)))("A query of a kind", (it) => {
  it.effect("returns the answers of the mechanisms that run, and skips those with a write in progress", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      for (const n of [1, 2, 3]) yield* createQueue(n, byHand)
      assert.deepStrictEqual(yield* sizes(engine), [])
      yield* engine.send(queue(1), enter(1))
      yield* engine.send(queue(2), enter(1))
      yield* engine.send(queue(2), enter(2))
      yield* engine.view(queue(3), "nobody")
      assert.deepStrictEqual(yield* sizes(engine), [
        [queue(1).id, 1],
        [queue(2).id, 2]
      ])

      const release = yield* hands.hold
      const entering = yield* Effect.forkChild(engine.send(queue(2), enter(3)))
      yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => hands.commits.length === 4 }))
      assert.deepStrictEqual(yield* sizes(engine), [[queue(1).id, 1]])
      yield* release
      yield* Fiber.join(entering)
      assert.deepStrictEqual(yield* sizes(engine), [
        [queue(1).id, 1],
        [queue(2).id, 3]
      ])
      assert.deepStrictEqual(yield* engine.query("draw", () => true), [])
      const [said] = yield* engine.query("queue", () => true)
      assert.deepStrictEqual(
        [said!.mechanism.kind, said!.mechanism.tenant.organizationId],
        ["queue", tenant.organizationId]
      )
    })
  )
})
