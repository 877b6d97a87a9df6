/** The signal of a process that its journal has written. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { OwnCommits } from "../../../src/store/journal/OwnCommits.ts"
import { aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

describe("A worker that follows the journal", () => {
  const waiting = Effect.gen(function* () {
    const ownCommits = yield* OwnCommits
    ownCommits.forget()
    return { ownCommits, fiber: yield* Effect.forkChild(ownCommits.wait(100, 1_000)) }
  })

  it.effect("reads again soon after a commit of its process", () =>
    Effect.gen(function* () {
      const { ownCommits, fiber } = yield* waiting
      ownCommits.report()
      yield* TestClock.adjust("99 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 milli")
      yield* Fiber.join(fiber)
    })
  )

  it.effect("reads again after a second without one", () =>
    Effect.gen(function* () {
      const { fiber } = yield* waiting
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 milli")
      yield* Fiber.join(fiber)
    })
  )

  layer(records, { excludeTestServices: true })((it) => {
    it.effect("learns of every append that the journal has written", () =>
      Effect.gen(function* () {
        const queue = yield* aQueue(yield* aTenant())
        const ownCommits = yield* OwnCommits
        const journal = yield* Journal
        ownCommits.forget()
        const at = Date.now()
        yield* journal.append({
          mechanismId: queue.id,
          kind: "queue",
          expectedSequence: 1,
          events: [{ _tag: "Entered", at, consumerId: randomUUID() }],
          places: [],
          wakeAt: null
        })
        // Without the report this would wait for ten minutes.
        yield* ownCommits.wait(0, 600_000)
      })
    )
  })
})
