import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { ReplyBatch } from "../../../src/engine/cluster/ReplyBatch.ts"

const indexes = (answers: ReadonlyArray<readonly [index: number, answer: unknown]>) => answers.map(([index]) => index)

describe("the answers to the questions of one message", () => {
  it.effect("travel together if they come soon, as soon as the last has come", () =>
    Effect.gen(function* () {
      const collector = new ReplyBatch(3)
      collector.add(1, ["yes", "b"])
      const taking = yield* Effect.forkChild(collector.taken, { startImmediately: true })
      collector.add(0, ["yes", "a"])
      yield* TestClock.adjust(10)
      assert.isUndefined(taking.pollUnsafe())
      collector.add(2, ["no", { _tag: "Closed" }])
      assert.deepStrictEqual(indexes(yield* Fiber.join(taking)), [1, 0, 2])
      assert.isTrue(collector.isDone)
    })
  )

  it.effect("do not wait long for a slow one, which travels alone", () =>
    Effect.gen(function* () {
      const collector = new ReplyBatch(3)
      collector.add(0, ["yes", "a"])
      collector.add(2, ["yes", "c"])
      const first = yield* Effect.forkChild(collector.taken, { startImmediately: true })
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(indexes(yield* Fiber.join(first)), [0, 2])
      assert.isFalse(collector.isDone)
      const second = yield* Effect.forkChild(collector.taken, { startImmediately: true })
      yield* TestClock.adjust(10_000)
      assert.isUndefined(second.pollUnsafe(), "an empty reply would cost a further request")
      collector.add(1, ["yes", "b"])
      assert.deepStrictEqual(indexes(yield* Fiber.join(second)), [1])
      assert.isTrue(collector.isDone)
    })
  )

  it.effect("are complete for a message without questions", () =>
    Effect.gen(function* () {
      const collector = new ReplyBatch(0)
      assert.isTrue(collector.isDone)
      assert.deepStrictEqual(yield* collector.taken, [])
    })
  )
})
