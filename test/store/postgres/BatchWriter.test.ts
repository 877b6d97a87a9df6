import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, References } from "effect"
import { TestClock } from "effect/testing"
import * as BatchWriter from "../../../src/store/postgres/BatchWriter.ts"

describe("Rows of a batch writer", () => {
  it.effect("all fail after ten seconds without an answer, including those that wait behind others", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<number>> = []
      const write = yield* BatchWriter.make("rows", (rows: ReadonlyArray<number>) =>
        Effect.andThen(
          Effect.sync(() => void batches.push(rows)),
          Effect.never
        )
      )
      const failedAt: Array<number> = []
      const rows: Array<Fiber.Fiber<void, unknown>> = []
      for (const row of [1, 2, 3, 4]) {
        const refused = Effect.flip(write(row)).pipe(
          Effect.andThen(Clock.currentTimeMillis),
          Effect.map((now) => void failedAt.push(now))
        )
        rows.push(yield* Effect.forkChild(refused, { startImmediately: true }))
        yield* TestClock.adjust(1)
      }
      assert.deepStrictEqual(batches, [[1], [2]], "two statements are in progress, and the others wait")
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.awaitAll(rows)
      assert.strictEqual(failedAt.length, 4)
      assert.isAtMost(Math.max(...failedAt), 10_004)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(batches, [[1], [2]], "what was given up is not written later")
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )
})
