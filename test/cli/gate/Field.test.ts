/** What a gate in the field knows, on the clock of the test and with an Usher of the test. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Field from "../../../src/cli/gate/Field.ts"
import { Late, OutOfReach, type Silence, type Upstream } from "../../../src/cli/gate/Upstream.ts"
import { type PassAnswer, decide } from "../../../src/client/gate.ts"
import { claims, gates, keySet, valid, withCookie } from "../../client/gates/vectorParts.ts"

/** An Usher whose answers a test changes. */
const anUsher = (pass: Upstream["pass"] = () => Effect.succeed({ status: "FAILED" })) => {
  const state = { ended: [] as Array<string>, isAway: false, polls: 0 }
  const answered = <A>(answer: () => A) =>
    Effect.suspend(() => {
      return state.isAway ? Effect.fail(new OutOfReach({ reason: "away" })) : Effect.succeed(answer())
    })
  const upstream = {
    record: () => answered(() => ({ record: gates["shop"], etag: null })),
    keys: answered(() => keySet),
    ended: () => {
      state.polls++
      const data = state.ended.map((jti) => ({ jti, expiresAt: null, status: "LEFT", endedAt: 0 }))
      return answered(() => ({ data, until: 0, next: null }))
    },
    pass,
    renew: () => answered(() => ({ renewed: 0, results: [] }))
  } as unknown as Upstream
  return { upstream, state }
}

const now = claims.exp * 1_000 - 600_000

describe("What a gate in the field knows", () => {
  it.effect("refuses a stolen cookie within two seconds after its visitor has left", () =>
    Effect.gen(function* () {
      const { upstream, state } = anUsher()
      const field = yield* Field.make(upstream)
      const kind = Effect.map(
        Effect.promise(() => decide(field.knowledge(now), withCookie(valid))),
        (decision) => decision.kind
      )
      yield* TestClock.adjust(1_500)
      assert.strictEqual(yield* kind, "pass")
      state.ended = [claims.jti]
      yield* TestClock.adjust(2_000)
      assert.notStrictEqual(yield* kind, "pass")
      assert.isAtMost(state.polls, 5)
    })
  )

  it.effect("still knows the ended grants while Usher is away, and learns of later ones within two seconds after", () =>
    Effect.gen(function* () {
      const { upstream, state } = anUsher()
      const field = yield* Field.make(upstream)
      state.ended = [claims.jti]
      yield* TestClock.adjust(1_000)
      state.isAway = true
      yield* TestClock.adjust(120_000)
      assert.deepStrictEqual([field.isReachable, field.ended.has(claims.jti)], [false, true])
      state.ended = [claims.jti, "grant-2"]
      state.isAway = false
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual([field.isReachable, field.ended.has("grant-2")], [true, true])
    })
  )

  it.effect("asks about a bounded number of new visitors at once in a flood; the others go to the room", () =>
    Effect.gen(function* () {
      const answered = yield* Deferred.make<PassAnswer>()
      let open = 0
      let most = 0
      const pass = () =>
        Effect.suspend(() => {
          most = Math.max(most, ++open)
          return Effect.ensuring(
            Deferred.await(answered),
            Effect.sync(() => open--)
          )
        })
      const { upstream } = anUsher(pass)
      const field = yield* Field.make(upstream)
      const flood = 200_000
      const asked = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: flood }, (_, visitor) => `attempt-of-visitor-${visitor}`),
          (attempt) => Field.ask(field, upstream, "queue-1", { attempt }),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      yield* Deferred.succeed(answered, { status: "QUEUED", roomUrl: "https://usher.example.com/e/drop" })
      const statuses = (yield* Fiber.join(asked)).map(({ status }) => status)
      assert.strictEqual(most, Field.asksMax)
      assert.strictEqual(statuses.filter((status) => status === "QUEUED").length, Field.asksMax)
      assert.strictEqual(statuses.filter((status) => status === "ROOM").length, flood - Field.asksMax)
      // From now on nobody is asked about until the record says that nobody waits.
      assert.isTrue(field.isEngaged)
    })
  )

  it.effect("is closed to nobody because one call is late, and knows of an Usher that is away", () =>
    Effect.gen(function* () {
      const silences: Array<Silence> = [new Late({ reason: "late" }), new OutOfReach({ reason: "away" })]
      const { upstream } = anUsher(() => Effect.suspend(() => Effect.fail(silences.shift()!)))
      const field = yield* Field.make(upstream)
      const asked = Field.ask(field, upstream, "queue-1", { attempt: "visitor-1" })
      yield* asked
      assert.isTrue(field.isReachable)
      assert.strictEqual((yield* asked).status, "FAILED")
      assert.isFalse(field.isReachable)
      yield* TestClock.adjust(1_000)
      assert.isTrue(field.isReachable)
    })
  )
})
