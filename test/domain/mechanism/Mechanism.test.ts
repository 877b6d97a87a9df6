import { assert, describe, it } from "@effect/vitest"
import { deciders } from "../../../src/domain/mechanism/Mechanism.ts"
import type { AnyDecider } from "../../../src/engine/actor/Batch.ts"

describe("every kind of mechanism", () => {
  it("begins without places, due events or wake-ups", () => {
    for (const decider of Object.values<AnyDecider>(deciders)) {
      const state = decider.initial()
      assert.isUndefined(decider.due(state, { now: Number.MAX_SAFE_INTEGER, entropy: () => "00".repeat(16), level: 1 }))
      assert.isUndefined(decider.wakeAt(state))
      assert.isUndefined(decider.place(state, "anyone"))
    }
  })
})
