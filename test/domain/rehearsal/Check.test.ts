import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../src/domain/rehearsal/Check.ts"
import { emptyMistakes, withSettings } from "./mistakes.ts"
import { areNamed } from "./named.ts"
import { right } from "./rightDrop.ts"

describe("the check of a drop", () => {
  it("finds nothing in a drop without a mistake, of every kind of mechanism", () => {
    assert.deepStrictEqual(check(right), [])
  })

  areNamed(emptyMistakes)

  it("shows errors first", () => {
    const drop = { ...withSettings(0, { admitRate: 0 }), products: [] }
    assert.deepStrictEqual(
      check(drop).map(({ code, severity }) => [code, severity]),
      [
        ["NO_PRODUCT", "error"],
        ["RATE_ZERO", "warning"]
      ]
    )
  })
})
