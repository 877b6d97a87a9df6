import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/stock/Stock.ts"
import { configurationProblems } from "../../../src/domain/stock/Configuration.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import { adjust, at, configuration, configure, given, report, settle } from "./history.ts"

const taker = (distributionId: string) => ({ distributionId })

describe("a stock", () => {
  it("has the units that it was given, and none beyond", () => {
    const stock = given(300)
    assert.deepInclude(stock.facts(), { onHand: 300, free: 300, underway: 0, sold: 0 })
    assert.deepStrictEqual(stock.when(1, adjust(-20, "DAMAGED")), [
      { _tag: "Adjusted", at: at(1), units: -20, reason: "DAMAGED", by: "admin" }
    ])
    assert.deepInclude(stock.facts(), { onHand: 280, free: 280 })
    assertRefused(stock.when(2, adjust(-281)), "TooFewUnits", { free: 280 })
    assert.deepStrictEqual(stock.when(3, adjust(0)), [])
  })

  it("records how it began, and then when it is low, empty and refilled", () => {
    const stock = given(10, [], { lowAt: 3 })
    const levels: Array<string> = []
    for (const [second, command] of [
      [1, adjust(-6)],
      [2, adjust(-1)],
      [3, { _tag: "CountOrder", orderId: "order", units: 3 }],
      [4, adjust(2)],
      [5, adjust(9)],
      [6, adjust(0)]
    ] as const) {
      stock.when(second, command)
      levels.push(stock.state.level ?? "none")
    }
    assert.deepStrictEqual(levels, ["AVAILABLE", "AVAILABLE", "LOW", "EMPTY", "LOW", "AVAILABLE"])
  })

  it("frees the units of an order that was not written, and counts it no more", () => {
    const stock = given(3)
    const count = { _tag: "CountOrder", orderId: "order", units: 2 } as const
    stock.when(1, count)
    stock.when(2, { _tag: "UndoOrder", orderId: "order" })
    assert.deepInclude(stock.facts(), { free: 3, sold: 0 })
    assert.deepStrictEqual(stock.when(3, count), [])
    stock.when(4, { _tag: "UndoOrder", orderId: "late" })
    assert.deepStrictEqual(stock.when(5, { ...count, orderId: "late" }), [])
    assert.deepInclude(stock.facts(), { onHand: 3, free: 3 })
  })

  it("sends free units to who needs them, and knows them there when they were taken", () => {
    const stock = given(10, [taker("queue")])
    assert.deepStrictEqual(stock.when(1, settle({ queue: report({ needed: 4 }) })), [
      { _tag: "UnitsLeft", at: at(1), distributionId: "queue", transfer: 1, units: 4 }
    ])
    assert.deepInclude(stock.facts(), { free: 6, underway: 4 })
    assert.deepStrictEqual(stock.when(2, settle({ queue: report({ needed: 4 }) })), [])
    assert.deepStrictEqual(stock.when(3, settle({ queue: report({ units: 4, held: 4, came: 1 }) })), [
      { _tag: "UnitsTaken", at: at(3), distributionId: "queue", transfer: 1 }
    ])
    assert.deepStrictEqual(stock.facts(), {
      onHand: 10,
      free: 6,
      underway: 0,
      sold: 0,
      accounts: [{ distributionId: "queue", allocated: 4, sold: 0, taken: 0 }]
    })
  })

  it("takes what a mechanism gives back once, and sends it on in the same step", () => {
    const stock = given(2, [taker("first"), taker("second")])
    stock.when(1, settle({ first: report({ needed: 2 }) }))
    const given1 = report({ came: 1, isOpen: false, leaving: { transfer: 1, units: 2 } })
    assert.deepStrictEqual(stock.when(2, settle({ first: given1, second: report({ needed: 1 }) })), [
      { _tag: "UnitsTaken", at: at(2), distributionId: "first", transfer: 1 },
      { _tag: "UnitsCame", at: at(2), distributionId: "first", transfer: 1, units: 2 },
      { _tag: "UnitsLeft", at: at(2), distributionId: "second", transfer: 1, units: 1 }
    ])
    assert.deepStrictEqual(stock.when(3, settle({ first: given1 })), [])
    assert.deepInclude(stock.facts(), { free: 1, underway: 1 })
  })

  it("notes what was sold", () => {
    const stock = given(5, [taker("queue")])
    stock.when(1, settle({ queue: report({ needed: 3 }) }))
    stock.when(2, settle({ queue: report({ units: 1, sold: 2, came: 1 }) }))
    assert.deepStrictEqual(stock.facts(), {
      onHand: 5,
      free: 2,
      underway: 0,
      sold: 2,
      accounts: [{ distributionId: "queue", allocated: 1, sold: 2, taken: 0 }]
    })
  })

  it("takes back what is under way to a mechanism that is gone, or over", () => {
    for (const gone of ["gone", report({ isOpen: false, isOver: true })] as const) {
      const stock = given(5, [taker("queue")])
      stock.when(1, settle({ queue: report({ needed: 3 }) }))
      assert.deepStrictEqual(stock.when(2, settle({ queue: gone })), [
        { _tag: "UnitsRecalled", at: at(2), distributionId: "queue", transfer: 1 }
      ])
      assert.deepInclude(stock.facts(), { free: 5, underway: 0 })
    }
  })

  it("does not take back what a mechanism has taken before it was over", () => {
    const stock = given(5, [taker("queue")])
    stock.when(1, settle({ queue: report({ needed: 3 }) }))
    stock.when(2, settle({ queue: report({ came: 1, sold: 3, isOpen: false, isOver: true }) }))
    assert.deepInclude(stock.facts(), { free: 2, underway: 0, sold: 3 })
  })

  it("counts an order once, and refuses one that needs more than is free", () => {
    const stock = given(3)
    const order = (orderId: string, units: number) => ({ _tag: "CountOrder", orderId, units }) as const
    assert.deepStrictEqual(stock.when(1, order("o1", 2)), [
      { _tag: "OrderCounted", at: at(1), orderId: "o1", units: 2 }
    ])
    assert.deepStrictEqual(stock.when(2, order("o1", 2)), [])
    assertRefused(stock.when(3, order("o2", 2)), "TooFewUnits", { free: 1 })
    assert.deepInclude(stock.facts(), { onHand: 3, free: 1, sold: 2 })
  })

  it("frees the units of a cancelled order once, or not at all if it does not wish so", () => {
    const cancel = (orderId: string, units: number) => ({ _tag: "CancelOrder", orderId, units }) as const
    for (const returnsCancelled of [true, false]) {
      const stock = given(3, [], { returnsCancelled })
      stock.when(1, { _tag: "CountOrder", orderId: "o1", units: 2 })
      stock.when(2, cancel("o1", 2))
      stock.when(3, cancel("o1", 2))
      assert.deepInclude(stock.facts(), returnsCancelled ? { free: 3, sold: 0 } : { free: 1, sold: 2 })
    }
  })

  it("frees the units of a cancelled order that a mechanism has sold", () => {
    const stock = given(3, [taker("queue")])
    stock.when(1, settle({ queue: report({ needed: 3 }) }))
    stock.when(2, settle({ queue: report({ came: 1, sold: 3 }) }))
    stock.when(3, { _tag: "CancelOrder", orderId: "o1", units: 1 })
    assert.deepInclude(stock.facts(), { onHand: 3, free: 1, sold: 2 })
  })

  it("keeps its variants, and changes its takers", () => {
    const stock = given(3)
    assertRefused(stock.when(1, configure({ variantIds: [] })), "ConfigurationFixed", { setting: "variantIds" })
    stock.when(2, configure({ takers: [taker("queue")] }))
    assert.lengthOf(stock.state.configured.takers, 1)
  })

  it("sends nothing after it was archived, and is torn down when every unit is back", () => {
    const stock = given(3, [taker("queue")])
    stock.when(1, settle({ queue: report({ needed: 1 }) }))
    stock.when(2, { _tag: "Archive", by: "admin" })
    stock.until(3)
    assert.isFalse(stock.state.tornDown)
    assertRefused(stock.when(3, adjust(1)), "Closed")
    stock.when(4, settle({ queue: "gone" }))
    stock.until(5)
    assert.isTrue(stock.state.tornDown)
    assert.deepStrictEqual(stock.when(6, settle({ queue: report({ needed: 1 }) })), [])
  })

  it("has no consumers", () => {
    const stock = given(3)
    assert.isUndefined(decider.view(stock.state, "c", at(1)))
    assert.isUndefined(decider.place(stock.state, "c"))
    assert.deepStrictEqual(decider.counts(stock.state), {})
  })
})

describe("the settings of a stock", () => {
  it("name a mechanism once, with one limit", () => {
    assert.deepStrictEqual(configurationProblems(configuration({ takers: [taker("a"), taker("b")] })), [])
    assert.lengthOf(configurationProblems(configuration({ takers: [taker("a"), taker("a")] })), 1)
    assert.lengthOf(configurationProblems(configuration({ takers: [{ distributionId: "a", units: 1, upTo: 2 }] })), 1)
  })
})
