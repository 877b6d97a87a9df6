import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { HttpServerResponse } from "effect/http"
import { inSlices } from "../../../../src/engine/streams/Proofs.ts"
import { makeProofs } from "../../../../src/http/consumer/draw/Draws.ts"

/** A proof of so many characters, in pieces of ten, each after an empty one. Counts how often it is computed. */
const proofOf = (length: number) => {
  const made = { times: 0 }
  const pieces = function* () {
    made.times++
    for (let start = 0; start < length; start += 10) {
      yield ""
      yield "x".repeat(10)
    }
  }
  return { made, proof: inSlices(pieces) }
}

const textOf = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.promise(() => HttpServerResponse.toWeb(response).text())

describe("The proofs of draws", () => {
  it.effect("are sent completely, with their length", () =>
    Effect.gen(function* () {
      const { proof } = proofOf(100)
      const response = yield* makeProofs()("draw", proof)
      assert.strictEqual(response.headers["content-length"], "100")
      assert.strictEqual(yield* textOf(response), "x".repeat(100))
    })
  )

  it.effect("are computed once, also for simultaneous requests", () =>
    Effect.gen(function* () {
      const { made, proof } = proofOf(1_000)
      const sent = makeProofs()
      const answers = yield* Effect.all([sent("draw", proof), sent("draw", proof), sent("draw", proof)], {
        concurrency: 3
      })
      yield* sent("draw", proof)
      assert.strictEqual(made.times, 1)
      for (const answer of answers) assert.lengthOf(yield* textOf(answer), 1_000)
    })
  )

  it.effect("yield to other work between the pieces", () =>
    Effect.gen(function* () {
      const { proof } = proofOf(1_000)
      const making = yield* Effect.forkChild(makeProofs()("draw", proof), { startImmediately: true })
      let turns = 0
      while (making.pollUnsafe() === undefined) {
        turns++
        yield* Effect.yieldNow
      }
      assert.isAtLeast(turns, 100)
      yield* Fiber.join(making)
    })
  )

  it.effect("are computed again if the request that started them is cancelled", () =>
    Effect.gen(function* () {
      const { made, proof } = proofOf(1_000)
      const sent = makeProofs()
      const gone = yield* Effect.forkChild(sent("draw", proof), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(gone)
      assert.lengthOf(yield* textOf(yield* sent("draw", proof)), 1_000)
      assert.strictEqual(made.times, 2)
    })
  )

  it.effect("are cached up to a size: the oldest are evicted first, and the newest always stays", () =>
    Effect.gen(function* () {
      const [first, second, third, huge] = [proofOf(100), proofOf(100), proofOf(100), proofOf(1_000)]
      const sent = makeProofs(200)
      yield* sent("first", first.proof)
      yield* sent("second", second.proof)
      yield* sent("third", third.proof)
      yield* sent("second", second.proof)
      yield* sent("third", third.proof)
      assert.deepStrictEqual([second.made.times, third.made.times], [1, 1])
      yield* sent("first", first.proof)
      assert.strictEqual(first.made.times, 2)
      yield* sent("huge", huge.proof)
      yield* sent("huge", huge.proof)
      assert.strictEqual(huge.made.times, 1)
      yield* sent("third", third.proof)
      assert.strictEqual(third.made.times, 2)
    })
  )
})
