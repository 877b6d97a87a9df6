import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, References } from "effect"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { TestClock } from "effect/testing"
import * as BatchWriter from "../../../src/store/postgres/BatchWriter.ts"

const refused = (code: string) =>
  Effect.fail(
    new SqlError({
      reason: new UnknownError({ cause: Object.assign(new Error("refused"), { code }), message: "refused" })
    })
  )

/** Writes the rows 1 to 6 with a writer that is busy, so that they share a statement. Returns their results. */
const behindABusyWriter = Effect.fnUntraced(function* (
  answer: (rows: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<number>, SqlError>
) {
  const batches: Array<ReadonlyArray<number>> = []
  const free = yield* Deferred.make<void>()
  const write = yield* BatchWriter.make("rows", (rows: ReadonlyArray<number>) =>
    rows[0]! < 0
      ? Effect.as(Deferred.await(free), rows)
      : Effect.andThen(
          Effect.sync(() => void batches.push(rows)),
          answer(rows)
        )
  )
  const busy: Array<Fiber.Fiber<number, unknown>> = []
  for (const row of [-1, -2]) {
    busy.push(yield* Effect.forkChild(write(row), { startImmediately: true }))
    yield* TestClock.adjust(1)
  }
  const rows = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (row) =>
    Effect.forkChild(write(row), { startImmediately: true })
  )
  yield* Deferred.succeed(free, undefined)
  yield* Fiber.awaitAll(busy)
  const exits = yield* Fiber.awaitAll(rows)
  return { batches, results: exits.map((exit) => (Exit.isSuccess(exit) ? exit.value : "failed")) }
})

describe("Rows of a batch writer", () => {
  it.effect("are all written except the one whose content the database refuses", () =>
    Effect.gen(function* () {
      const { batches, results } = yield* behindABusyWriter((rows) =>
        rows.includes(4) ? refused("22021") : Effect.succeed(rows.map((row) => row * 10))
      )
      assert.deepStrictEqual(batches[0], [1, 2, 3, 4, 5, 6], "they share a statement")
      assert.deepStrictEqual(results, [10, 20, 30, "failed", 50, 60])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.effect("all fail with a statement that fails for another reason, and are not written again", () =>
    Effect.gen(function* () {
      const { batches, results } = yield* behindABusyWriter(() => refused("57P01"))
      assert.deepStrictEqual(batches, [[1, 2, 3, 4, 5, 6]])
      assert.isTrue(results.every((result) => result === "failed"))
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

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
