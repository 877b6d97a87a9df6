import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../src/domain/rehearsal/Check.ts"
import { termMistakes } from "./mistakes.ts"
import { areNamed } from "./named.ts"
import { line, queue, right, variant } from "./rightDrop.ts"

describe("the check of a mechanism's settings", () => {
  areNamed(termMistakes)

  it("warns of a day in line even if nothing closes, and says the weekday", () => {
    const { closeAt: _, ...endless } = { ...queue, admitRate: 1, maxAdmissions: 9_000 }
    const { closeAt: __, ...experience } = right.experience
    const drop = {
      ...right,
      experience,
      products: [{ ...right.products[0]!, variants: [{ ...variant, inventoryQuantity: 10_000 }] }],
      sequences: [{ ...right.sequences[0]!, mechanisms: [{ ...line, settings: endless }] }]
    }
    const [finding, ...others] = check(drop)
    assert.isEmpty(others)
    assert.include(finding!.message, "the last of 9,000 units in “The line” would wait until Friday, 2026-12-04 00:00")
  })
})
