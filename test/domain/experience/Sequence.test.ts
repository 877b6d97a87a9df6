import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { AccessCode, Settings } from "../../../src/domain/experience/Sequence.ts"

const isAccepted = Schema.is(Settings)

describe("a sequence's settings", () => {
  it("are a name and a whole priority", () => {
    assert.isTrue(isAccepted({ name: "Everyone", priority: 0 }))
    assert.isTrue(isAccepted({ name: "Everyone", priority: -5, productSelectionMode: "SYSTEM_ASSIGNED" }))
  })

  it("may name an audience", () => {
    assert.isTrue(isAccepted({ name: "Friends", priority: 0, audienceId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a" }))
  })

  it("are refused without a name, with a priority that is broken or huge, or an unknown selection mode", () => {
    const wrong = [
      { priority: 0 },
      { name: "", priority: 0 },
      { name: "Everyone", priority: 0.5 },
      { name: "Everyone", priority: 1_000_001 },
      { name: "Everyone", priority: Number.NaN },
      { name: "Everyone", priority: "0" },
      { name: "Everyone", priority: 0, productSelectionMode: "RANDOM" },
      { name: "Everyone", priority: 0, audienceId: 1 }
    ]
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })

  it("have beside them an access code of any text that is not too long", () => {
    const isCode = Schema.is(AccessCode)
    assert.isTrue(["a", "0000", "open sesame", "x".repeat(200)].every(isCode))
    assert.deepStrictEqual(["", "x".repeat(201), "a\u0000", 1234].filter(isCode), [])
  })
})
