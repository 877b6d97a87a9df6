import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../src/engine/Engine.ts"
import * as EffectLoop from "../../src/workers/EffectLoop.ts"

/** An engine of which only the signals are used. */
class Signals {
  readonly listeners = new Set<() => void>()

  readonly layer = Layer.succeed(Engine, {
    onEffectNeeded: (_, onNeed) => {
      this.listeners.add(onNeed)
      return () => void this.listeners.delete(onNeed)
    }
  } as Partial<Engine["Service"]> as Engine["Service"])

  readonly give = Effect.sync(() => this.listeners.forEach((onNeed) => onNeed()))
}

describe("the loop of a worker", () => {
  const test = (
    what: string,
    body: (world: {
      readonly signals: Signals
      readonly polls: ReadonlyArray<number>
      readonly pollNow: Effect.Effect<void>
      readonly end: Effect.Effect<void>
    }) => Effect.Effect<void>
  ) =>
    it.effect(what, () =>
      Effect.gen(function* () {
        const signals = new Signals()
        const polls: Array<number> = []
        const scope = yield* Scope.make()
        const poll = Effect.map(Clock.currentTimeMillis, (now) => {
          polls.push(now)
          return 1_000
        })
        const pollNow = yield* EffectLoop.start({ kind: "draw", spacingMillis: 100, poll }).pipe(
          Effect.provide(signals.layer),
          Scope.provide(scope)
        )
        yield* TestClock.adjust(0)
        yield* body({ signals, polls, pollNow, end: Scope.close(scope, Exit.void) })
      })
    )

  test("polls at once, and then after the time that the last poll said", ({ polls }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(polls, [0])
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(polls, [0, 1_000, 2_000])
    }))

  test("polls at once after a signal, and soon after if the last poll was a moment ago", ({ signals, polls }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust(500)
      yield* signals.give
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(polls, [0, 500])
      for (let more = 0; more < 5; more++) yield* signals.give
      yield* TestClock.adjust(89)
      assert.deepStrictEqual(polls, [0, 500])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(polls, [0, 500, 600])
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(polls, [0, 500, 600])
    }))

  test("polls when it is told to", ({ polls, pollNow }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust(500)
      yield* pollNow
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(polls, [0, 500])
    }))

  test("ends with its scope, and hears no more signals", ({ signals, polls, end }) =>
    Effect.gen(function* () {
      yield* end
      assert.strictEqual(signals.listeners.size, 0)
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(polls, [0])
    }))
})
