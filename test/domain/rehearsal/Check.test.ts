import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../src/domain/rehearsal/Check.ts"
import { emptyMistakes, withSettings } from "./mistakes.ts"
import { areNamed } from "./named.ts"
import { all, closing, hour, right } from "./rightDrop.ts"

const codesOf = (findings: ReturnType<typeof check>) => findings.map(({ code }) => code)

describe("the check of a drop", () => {
  it("finds nothing in a drop without a mistake, of every kind of mechanism", () => {
    assert.deepStrictEqual(check(right), [])
  })

  areNamed(emptyMistakes)

  it("finds nothing to be mended in what has run and is over, of every kind", () => {
    const over = (index: number, isOver: boolean) => {
      const after = { ...right, now: closing + hour }
      const [sequence] = right.sequences
      const mechanisms = all.map((one, at) => ({ ...one, isOver: isOver && (index === -1 || index === at) }))
      return check({ ...after, sequences: [{ ...sequence!, mechanisms }] })
    }
    assert.deepStrictEqual(over(-1, true), [])
    assert.include(codesOf(over(-1, false)), "EXPERIENCE_OVER")
    for (const [index, { id }] of all.entries()) {
      const later = { ...right, experience: { ...right.experience, closeAt: closing + hour } }
      const [sequence] = later.sequences
      const settings = { ...all[index]!.settings, closeAt: right.now - 1 }
      const checked = (isOver: boolean) =>
        check({
          ...later,
          sequences: [{ ...sequence!, mechanisms: all.with(index, { ...all[index]!, settings, isOver }) }]
        })
      assert.isTrue(checked(false).some(({ recordId }) => recordId === id))
      assert.isFalse(checked(true).some(({ recordId }) => recordId === id))
    }
  })

  it("asks for no way to the shop where nobody continues in one", () => {
    const [sequence] = right.sequences
    const products = [{ ...right.products[0]!, url: "about:blank" }]
    const of = (mechanisms: typeof all) =>
      codesOf(check({ ...right, products, sequences: [{ ...sequence!, mechanisms }] }))
    assert.include(of(all), "NO_WAY_TO_SHOP")
    assert.notInclude(of([all[5]!]), "NO_WAY_TO_SHOP")
    const site = { ...all[0]!, settings: { ...all[0]!.settings, standby: true } }
    assert.notInclude(of([site]), "NO_WAY_TO_SHOP")
  })

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
