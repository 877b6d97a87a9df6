import { assert, describe, it } from "@effect/vitest"
import type { Kind } from "../../../src/domain/mechanism/Decider.ts"
import { deciders, isLiveKind } from "../../../src/domain/mechanism/Mechanism.ts"
import type { AnyDecider } from "../../../src/engine/actor/Batch.ts"

const kinds: ReadonlyArray<Kind> = ["queue", "draw", "auction", "appointment", "timed_release", "waitlist"]

describe("the mechanisms", () => {
  it("are live exactly where there are rules for them", () => {
    assert.deepStrictEqual(kinds.filter(isLiveKind), Object.keys(deciders))
  })

  it("do not take a name that every object has for a kind", () => {
    assert.isFalse(isLiveKind("constructor" as Kind))
    assert.isFalse(isLiveKind("toString" as Kind))
  })

  it("begin with no place, nothing due and nobody to wake them", () => {
    for (const decider of Object.values<AnyDecider>(deciders)) {
      const state = decider.initial()
      assert.isUndefined(decider.due(state, { now: Number.MAX_SAFE_INTEGER, entropy: () => "00".repeat(16) }))
      assert.isUndefined(decider.wakeAt(state))
      assert.isUndefined(decider.place(state, "anyone"))
    }
  })
})
