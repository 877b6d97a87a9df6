import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeProgress } from "../../../src/cli/runtime/Progress.ts"

/** The text that is written to standard error meanwhile. */
const shown = Effect.gen(function* () {
  const { write, isTTY } = process.stderr
  const lines: Array<string> = []
  yield* Effect.acquireRelease(
    Effect.sync(() => Object.assign(process.stderr, { isTTY: false, write: (text: string) => lines.push(text) > 0 })),
    () => Effect.sync(() => Object.assign(process.stderr, { isTTY, write }))
  )
  return lines
})

describe("the progress of a long operation", () => {
  it.effect("is a line every ten seconds without a terminal, also for more work than was counted", () =>
    Effect.gen(function* () {
      const lines = yield* shown
      const { advance } = makeProgress(1_000, 0)
      yield* advance("events", 100)
      yield* TestClock.adjust("10 seconds")
      yield* advance("events", 400)
      yield* advance("events", 100)
      yield* TestClock.adjust("10 seconds")
      yield* advance("events", 600)
      assert.deepStrictEqual(lines, [
        "50 %  events  500 of 1,000, 10 s left\n",
        "100 %  events  1,200 of 1,000, 0 s left\n"
      ])
    }).pipe(Effect.scoped)
  )
})
