import { assert, describe, it } from "@effect/vitest"
import { evolveUnits, newAllocation } from "../../../src/domain/mechanism/Allocation.ts"
import { isGivenBack, unitRules } from "../../../src/domain/mechanism/Units.ts"
import type { SettleUnits } from "../../../src/domain/mechanism/UnitProtocol.ts"
import { arrives, giveBack, stockId, taken } from "./support/units.ts"

interface State {
  readonly configuration: { readonly stockId?: string }
  readonly allocation: ReturnType<typeof newAllocation>
  closedAt: number
  readonly lastAt: number
  tornDown: boolean
  held: number
  needed: number
}

const rules = unitRules<State>({ held: ({ held }) => held, needed: ({ needed }) => needed })

const selling = (configuration: State["configuration"] = { stockId }): State => ({
  configuration,
  allocation: newAllocation(),
  closedAt: Infinity,
  lastAt: 0,
  tornDown: false,
  held: 0,
  needed: 0
})

const settle = (state: State, command: SettleUnits) => {
  const events = rules.settle(state, command, 5)
  for (const event of events) evolveUnits(state.allocation, event)
  return events
}

describe("a mechanism with a stock", () => {
  it("takes a transfer once, however often it is delivered, and after a later one", () => {
    const state = selling()
    assert.deepStrictEqual(settle(state, arrives(10)), [{ _tag: "UnitsCame", at: 5, transfer: 1, units: 10 }])
    assert.deepStrictEqual(settle(state, arrives(10)), [])
    settle(state, arrives(3, 2))
    assert.deepStrictEqual(settle(state, arrives(10)), [])
    assert.strictEqual(state.allocation.units, 13)
  })

  it("gives back what is asked for and not held, one transfer at a time", () => {
    const state = selling()
    settle(state, arrives(10))
    state.held = 4
    assert.deepStrictEqual(settle(state, giveBack(9)), [{ _tag: "UnitsLeft", at: 5, transfer: 1, units: 6 }])
    state.held = 2
    assert.deepStrictEqual(settle(state, giveBack(9)), [])
    assert.deepStrictEqual(settle(state, giveBack(9, 1)), [
      { _tag: "UnitsTaken", at: 5, transfer: 1 },
      { _tag: "UnitsLeft", at: 5, transfer: 2, units: 2 }
    ])
    assert.deepStrictEqual(settle(state, taken(1)), [])
    assert.isFalse(isGivenBack(state))
  })

  it("gives back after its closing what nobody can use any more", () => {
    const state = selling()
    settle(state, arrives(10))
    Object.assign(state, { held: 2, needed: 3 })
    assert.strictEqual(rules.giving.dueAt(state), Infinity)
    state.closedAt = 7
    assert.strictEqual(rules.giving.dueAt(state), 7)
    const event = rules.giving.make(state, 8)
    assert.deepStrictEqual(event, { _tag: "UnitsLeft", at: 8, transfer: 1, units: 5 })
    evolveUnits(state.allocation, event)
    state.needed = 0
    assert.strictEqual(rules.giving.dueAt(state), Infinity)
    settle(state, taken(1))
    assert.strictEqual(rules.giving.dueAt(state), 7)
  })

  it("takes nothing any more when it is torn down", () => {
    const state = selling()
    state.tornDown = true
    assert.deepStrictEqual(settle(state, arrives(10)), [])
    assert.isTrue(rules.report(state)!.isOver)
  })

  it("reports its units to its stock", () => {
    const state = selling()
    settle(state, arrives(10))
    settle(state, giveBack(1))
    Object.assign(state, { held: 4, needed: 3 })
    assert.deepStrictEqual(rules.report(state), {
      stockId,
      units: 9,
      held: 4,
      sold: 0,
      needed: 3,
      isOpen: true,
      isShelf: false,
      came: 1,
      leaving: { transfer: 1, units: 1 },
      isOver: false
    })
  })
})

describe("a mechanism without a stock", () => {
  it("neither takes nor reports units", () => {
    const state = selling({})
    assert.deepStrictEqual(settle(state, arrives(10)), [])
    assert.isUndefined(rules.report(state))
    state.closedAt = 1
    assert.strictEqual(rules.giving.dueAt(state), Infinity)
    assert.isTrue(isGivenBack(state))
  })
})
