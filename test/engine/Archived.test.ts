import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../src/engine/Engine.ts"
import { byHand, consumer, createQueue, enter, layerJournal, queue, queueId, recorded } from "./engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

describe("an archived mechanism", () => {
  it.effect("stays until nothing is outstanding in it, and then takes no room", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const here = engine.ask("queue", () => true)
      yield* createQueue(1, { ...byHand, admissionExpirationSeconds: 60 })
      yield* engine.send(queue(), enter(1))
      yield* engine.send(queue(), { _tag: "Admit", consumerId: consumer(1) })
      yield* engine.administer(queue(), { _tag: "Archive", by: "admin" })
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

  it.effect("stays for as long as someone watches it", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const here = engine.ask("queue", () => true)
      yield* createQueue(1, byHand)
      yield* engine.send(queue(), enter(1))
      const unwatch = engine.watch(queueId(1), () => {})
      yield* engine.administer(queue(), { _tag: "Archive", by: "admin" })
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(yield* here, 1)
      unwatch()
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* here, [])
    }).pipe(Effect.provide(layer))
  )
})
