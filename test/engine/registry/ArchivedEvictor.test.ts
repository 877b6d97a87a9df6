import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../../src/engine/Engine.ts"
import {
  anotherEngine,
  byHand,
  consumer,
  createQueue,
  enter,
  layerJournal,
  queue,
  queueId,
  recorded,
  stranger
} from "../engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

describe("an archived mechanism", () => {
  it.effect("stays in memory until nothing is outstanding in it, and is then evicted", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const here = engine.query("queue", () => true)
      yield* createQueue(1, { ...byHand, admissionExpirationSeconds: 60 })
      yield* engine.send(queue(), enter(1))
      yield* engine.send(queue(), { _tag: "Admit", consumerId: consumer(1), by: "admin" })
      yield* engine.sendAdmin(queue(), { _tag: "Archive", by: "admin" })
      yield* TestClock.adjust("50 seconds")
      assert.lengthOf(yield* here, 1)
      yield* TestClock.adjust("12 seconds")
      assert.deepStrictEqual(yield* here, [])
      assert.deepStrictEqual((yield* recorded(1)).slice(-2), ["Expired", "TornDown"])
      const error = yield* Effect.flip(engine.send(queue(), enter(2)))
      assert.strictEqual(error._tag, "MechanismNotFound")
      assert.deepStrictEqual(yield* here, [])
    }).pipe(Effect.provide(layer))
  )

  it.effect("is found by calls that include archived ones until its last grant has ended, in any process", () =>
    Effect.gen(function* () {
      const { engine } = yield* anotherEngine("before")
      const reached = { ...queue(), includesArchived: true } as const
      const complete = { _tag: "Complete", consumerId: consumer(1), by: "admin" } as const
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      yield* engine.send(queue(), { _tag: "Admit", consumerId: consumer(1), by: "admin" })
      yield* engine.sendAdmin(queue(), { _tag: "Archive", by: "admin" })
      yield* TestClock.adjust("1 minute")
      for (const { engine } of [yield* anotherEngine("here"), yield* anotherEngine("there")]) {
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* engine.view(reached, consumer(1))).status, "GRANTED")
        assert.strictEqual((yield* Effect.flip(engine.view(queue(), consumer(1))))._tag, "MechanismNotFound")
        const foreign = { ...reached, tenant: stranger }
        assert.strictEqual((yield* Effect.flip(engine.view(foreign, consumer(1))))._tag, "MechanismNotFound")
      }
      const { engine: last } = yield* anotherEngine("last")
      assert.strictEqual((yield* last.send(reached, complete)).status, "COMPLETED")
      assert.strictEqual((yield* Effect.flip(last.view(reached, consumer(1))))._tag, "MechanismNotFound")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* last.query("queue", () => true), [])
      assert.strictEqual((yield* Effect.flip(last.view(reached, consumer(1))))._tag, "MechanismNotFound")
    }).pipe(Effect.provide(layerJournal))
  )

  it.effect("stays in memory while a subscriber watches it", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const here = engine.query("queue", () => true)
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      const unwatch = engine.watch(queueId(1), () => {})
      yield* engine.sendAdmin(queue(), { _tag: "Archive", by: "admin" })
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(yield* here, 1)
      unwatch()
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* here, [])
    }).pipe(Effect.provide(layer))
  )
})
