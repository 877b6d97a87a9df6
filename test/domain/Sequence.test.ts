import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Settings } from "../../src/domain/Sequence.ts"

const isAccepted = Schema.is(Settings)

describe("a sequence's settings", () => {
  it("are a name and a whole priority", () => {
    assert.isTrue(isAccepted({ name: "Everyone", priority: 0 }))
    assert.isTrue(isAccepted({ name: "Everyone", priority: -5, productSelectionMode: "SYSTEM_ASSIGNED" }))
  })

  it("are refused without a name, with a priority that is broken or huge, or an unknown selection mode", () => {
    const wrong = [
      { priority: 0 },
      { name: "", priority: 0 },
      { name: "Everyone", priority: 0.5 },
      { name: "Everyone", priority: 1_000_001 },
      { name: "Everyone", priority: Number.NaN },
      { name: "Everyone", priority: "0" },
      { name: "Everyone", priority: 0, productSelectionMode: "RANDOM" }
    ]
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })
})
