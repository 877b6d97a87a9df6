import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { AdminCommand } from "../../../src/domain/mechanism/Mechanism.ts"
import { AdmissionsUsedUp } from "../../../src/domain/mechanism/Refusals.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import * as Admissions from "../../../src/engine/lifecycle/Admissions.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"

const queue = {
  kind: "queue",
  id: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
  tenant: { organizationId: "0199b2a1-7c3e-7d7a-b0f2-000000000000", mode: "live" }
} as const

/** An engine with so many waiting consumers, which answers `then` after they are admitted. Records the counts. */
const engineOf = (waiting: number, then: Effect.Effect<never, unknown> | undefined) => {
  const asked: Array<number> = []
  let admitted = 0
  const sendAdmin = (_: unknown, command: AdminCommand<"queue">) =>
    Effect.suspend(() => {
      assert(command._tag === "AdmitNext")
      asked.push(command.count)
      const next = Math.min(command.count, waiting - admitted)
      if (next === 0 && then !== undefined) return then
      const consumerIds = Array.from({ length: next }, () => `${admitted++}`)
      return Effect.succeed({ consumerIds })
    })
  return { asked, layer: Layer.succeed(Engine, { sendAdmin } as unknown as Engine["Service"]) }
}

const admitNext = (engine: ReturnType<typeof engineOf>, count: number) =>
  Effect.flatMap(Admissions.make, (admit) => admit(queue, count, { by: "admin" })).pipe(Effect.provide(engine.layer))

describe("admissions by count", () => {
  it.effect("are made in commits of a thousand at most, until the requested number is admitted", () =>
    Effect.gen(function* () {
      const engine = engineOf(10_000, undefined)
      const admitted = yield* admitNext(engine, 2_500)
      assert.deepStrictEqual(engine.asked, [1_000, 1_000, 500])
      assert.deepStrictEqual(
        admitted,
        Array.from({ length: 2_500 }, (_, index) => `${index}`)
      )
    })
  )

  it.effect("end when no consumer waits", () =>
    Effect.gen(function* () {
      const engine = engineOf(1_200, undefined)
      assert.lengthOf(yield* admitNext(engine, 9_000), 1_200)
      assert.deepStrictEqual(engine.asked, [1_000, 1_000])
    })
  )

  it.effect("return the admitted consumers when they cannot continue, and fail if there were none", () =>
    Effect.gen(function* () {
      for (const failure of [new Unavailable({ cause: "the test says so" }), new AdmissionsUsedUp()]) {
        assert.lengthOf(yield* admitNext(engineOf(2_000, Effect.fail(failure)), 9_000), 2_000)
        assert.strictEqual(yield* Effect.flip(admitNext(engineOf(0, Effect.fail(failure)), 9_000)), failure)
      }
    })
  )
})
