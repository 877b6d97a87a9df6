import { assert, describe, it } from "@effect/vitest"
import { evolveUnits, newAllocation, noteSale, unitsFree } from "../../../src/domain/mechanism/Allocation.ts"
import { stockId } from "./support/units.ts"

describe("an allocation", () => {
  it("follows its events", () => {
    const allocation = newAllocation()
    evolveUnits(allocation, { _tag: "UnitsCame", at: 0, transfer: 1, units: 10 })
    evolveUnits(allocation, { _tag: "UnitsLeft", at: 0, transfer: 1, units: 4 })
    assert.deepStrictEqual(allocation, { units: 6, sold: 0, came: 1, left: 1, leaving: { transfer: 1, units: 4 } })
    evolveUnits(allocation, { _tag: "UnitsTaken", at: 0, transfer: 1 })
    assert.isUndefined(allocation.leaving)
    noteSale({ configuration: { stockId }, allocation })
    assert.deepInclude(allocation, { units: 5, sold: 1 })
    assert.strictEqual(unitsFree({ configuration: { stockId }, allocation }, 2), 3)
  })

  it("counts nothing without a stock", () => {
    const allocation = newAllocation()
    noteSale({ configuration: {}, allocation })
    assert.deepStrictEqual(allocation, newAllocation())
    assert.strictEqual(unitsFree({ configuration: {}, allocation }, 2), Infinity)
  })
})
