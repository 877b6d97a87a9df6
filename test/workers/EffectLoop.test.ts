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
      readonly looks: ReadonlyArray<number>
      readonly lookNow: Effect.Effect<void>
      readonly end: Effect.Effect<void>
    }) => Effect.Effect<void>
  ) =>
    it.effect(what, () =>
      Effect.gen(function* () {
        const signals = new Signals()
        const looks: Array<number> = []
        const scope = yield* Scope.make()
        const look = Effect.map(Clock.currentTimeMillis, (now) => {
          looks.push(now)
          return 1_000
        })
        const lookNow = yield* EffectLoop.start({ kind: "draw", spacingMillis: 100, look }).pipe(
          Effect.provide(signals.layer),
          Scope.provide(scope)
        )
        yield* TestClock.adjust(0)
        yield* body({ signals, looks, lookNow, end: Scope.close(scope, Exit.void) })
      })
    )

  test("looks at once, and then after the time that the last look said", ({ looks }) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(looks, [0])
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(looks, [0, 1_000, 2_000])
    }))

  test("looks at once after a signal, and soon after if the last look was a moment ago", ({ signals, looks }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust(500)
      yield* signals.give
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(looks, [0, 500])
      for (let more = 0; more < 5; more++) yield* signals.give
      yield* TestClock.adjust(89)
      assert.deepStrictEqual(looks, [0, 500])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(looks, [0, 500, 600])
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(looks, [0, 500, 600])
    }))

  test("looks when it is told to", ({ looks, lookNow }) =>
    Effect.gen(function* () {
      yield* TestClock.adjust(500)
      yield* lookNow
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(looks, [0, 500])
    }))

  test("ends with its scope, and hears no more signals", ({ signals, looks, end }) =>
    Effect.gen(function* () {
      yield* end
      assert.strictEqual(signals.listeners.size, 0)
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(looks, [0])
    }))
})
