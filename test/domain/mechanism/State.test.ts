import { assert, describe, it } from "@effect/vitest"
import { newState } from "../../../src/domain/mechanism/State.ts"

describe("the common part of a state", () => {
  it("begins without events, unconfigured, open and with sequence 0", () => {
    const state = newState("unconfigured", { IN: 0 })
    assert.deepInclude(state, {
      sequence: 0,
      lastAt: 0,
      configured: "unconfigured",
      configuration: "unconfigured",
      closedAt: Infinity,
      tornDown: false
    })
    assert.deepStrictEqual(state.counts, { IN: 0 })
  })
})
