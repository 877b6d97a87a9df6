import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ReplyBatch } from "../../../src/engine/cluster/ReplyBatch.ts"

const places = (answers: ReadonlyArray<readonly [index: number, answer: unknown]>) => answers.map(([index]) => index)

describe("the answers to the questions of one message", () => {
  it.effect("go together if they come soon, at once when the last is there", () =>
    Effect.gen(function* () {
      const collector = new ReplyBatch(3)
      collector.add(1, ["yes", "b"])
      const taking = yield* Effect.forkChild(collector.taken, { startImmediately: true })
      collector.add(0, ["yes", "a"])
      yield* TestClock.adjust(10)
      assert.isUndefined(taking.pollUnsafe())
      collector.add(2, ["no", { _tag: "Closed" }])
      assert.deepStrictEqual(places(yield* Fiber.join(taking)), [1, 0, 2])
      assert.isTrue(collector.isDone)
    })
  )

  it.effect("do not wait long for one that is slow, which comes by itself", () =>
    Effect.gen(function* () {
      const collector = new ReplyBatch(3)
      collector.add(0, ["yes", "a"])
      collector.add(2, ["yes", "c"])
      const first = yield* Effect.forkChild(collector.taken, { startImmediately: true })
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(places(yield* Fiber.join(first)), [0, 2])
      assert.isFalse(collector.isDone)
      const second = yield* Effect.forkChild(collector.taken, { startImmediately: true })
      yield* TestClock.adjust(10_000)
      assert.isUndefined(second.pollUnsafe(), "an empty reply would only be a way more")
      collector.add(1, ["yes", "b"])
      assert.deepStrictEqual(places(yield* Fiber.join(second)), [1])
      assert.isTrue(collector.isDone)
    })
  )

  it.effect("of no question are there", () =>
    Effect.gen(function* () {
      const collector = new ReplyBatch(0)
      assert.isTrue(collector.isDone)
      assert.deepStrictEqual(yield* collector.taken, [])
    })
  )
})
