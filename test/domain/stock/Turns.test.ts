import { assert, describe, it } from "@effect/vitest"
import type { UnitsReport } from "../../../src/domain/mechanism/UnitProtocol.ts"
import type { Taker } from "../../../src/domain/stock/Configuration.ts"
import { givingBack, mayReturn, sending } from "../../../src/domain/stock/Turns.ts"
import { report } from "./history.ts"

interface Case {
  readonly free: number
  readonly takers: ReadonlyArray<Taker>
  readonly reports: { readonly [distributionId: string]: UnitsReport }
  readonly underway?: { readonly [distributionId: string]: number }
}

const ledger = ({ free, takers, reports, underway = {} }: Case) => ({
  free,
  takers,
  reports: new Map(Object.entries(reports)),
  underwayTo: (distributionId: string) => underway[distributionId] ?? 0
})

const sent = (one: Case, at = 0) =>
  Object.fromEntries(sending(ledger(one), at).map((turn) => [turn.distributionId, turn.units]))
const back = (one: Case, at = 0) =>
  Object.fromEntries(givingBack(ledger(one), at).map((turn) => [turn.distributionId, turn.units]))

const a: Taker = { distributionId: "a" }
const b: Taker = { distributionId: "b" }
const shelf = { isShelf: true }

describe("units that others have", () => {
  it("may come to a taker that has room for them, and only to an open one in the list", () => {
    const held = report({ units: 3, held: 3, sold: 2 })
    const may = (takers: ReadonlyArray<Taker>, outside: number, said = held) =>
      mayReturn({ takers }, "a", said, outside)
    assert.isTrue(may([b, a], 1))
    assert.isFalse(may([b, a], 0))
    assert.isFalse(may([b], 1))
    for (const limit of ["units", "upTo"] as const) {
      assert.isTrue(may([{ ...a, [limit]: 6 }], 1), limit)
      assert.isFalse(may([{ ...a, [limit]: 5 }], 1), limit)
    }
    assert.isFalse(may([a], 1, { ...held, isOver: true }))
  })
})

describe("free units", () => {
  it("go to people who wait, in the order of the list", () => {
    const reports = { a: report({ needed: 3 }), b: report({ needed: 3 }) }
    assert.deepStrictEqual(sent({ free: 4, takers: [a, b], reports }), { a: 3, b: 1 })
    assert.deepStrictEqual(sent({ free: 4, takers: [b, a], reports }), { b: 3, a: 1 })
  })

  it("are reserved as a fixed share while its mechanism is open, and less what it has sold", () => {
    const takers = [{ ...a, units: 100 }, b]
    const waiting = report({ needed: 9 })
    assert.deepStrictEqual(sent({ free: 105, takers, reports: { a: report(), b: waiting } }), { a: 100, b: 5 })
    assert.deepStrictEqual(sent({ free: 9, takers, reports: { a: report({ isOpen: false }), b: waiting } }), { b: 9 })
    assert.deepStrictEqual(sent({ free: 105, takers, reports: { a: report({ sold: 98 }), b: waiting } }), {
      a: 2,
      b: 9
    })
  })

  it("never exceed the most that a taker gets, and come only from its time on", () => {
    const reports = { a: report({ needed: 9, units: 2, held: 2, sold: 1 }) }
    assert.deepStrictEqual(sent({ free: 9, takers: [{ ...a, upTo: 5 }], reports }), { a: 2 })
    assert.deepStrictEqual(sent({ free: 9, takers: [{ ...a, from: 10 }], reports }, 9), {})
    assert.deepStrictEqual(sent({ free: 9, takers: [{ ...a, from: 10 }], reports }, 10), { a: 9 })
  })

  it("that nobody waits for go where people come and take them", () => {
    const reports = { a: report(shelf), b: report({ needed: 3 }) }
    assert.deepStrictEqual(sent({ free: 10, takers: [a, b], reports }), { b: 3, a: 7 })
    assert.deepStrictEqual(sent({ free: 10, takers: [{ ...a, upTo: 5 }, b], reports }), { b: 3, a: 5 })
    assert.deepStrictEqual(sent({ free: 10, takers: [a], reports: { a: report({ ...shelf, isOpen: false }) } }), {})
  })

  it("wait while others are under way to the same mechanism", () => {
    const reports = { a: report({ needed: 9 }), b: report({ needed: 9 }) }
    assert.deepStrictEqual(sent({ free: 4, takers: [a, b], reports, underway: { a: 1 } }), { b: 4 })
  })

  it("stay free if no taker needs them", () => {
    assert.deepStrictEqual(sent({ free: 4, takers: [a], reports: { a: report(), other: report({ needed: 4 }) } }), {})
  })
})

describe("units are given back", () => {
  it("by a shelf, if people wait elsewhere", () => {
    const reports = { a: report({ ...shelf, units: 10, held: 4 }), b: report({ needed: 5 }) }
    assert.deepStrictEqual(back({ free: 0, takers: [a, b], reports }), { a: 5 })
    assert.deepStrictEqual(back({ free: 2, takers: [a, b], reports }), { a: 3 })
    assert.deepStrictEqual(back({ free: 5, takers: [a, b], reports }), {})
  })

  it("first by the last in the list", () => {
    const spare = report({ units: 3 })
    const reports = { a: spare, b: spare, c: report({ needed: 4 }) }
    const takers = [a, b, { distributionId: "c" }]
    assert.deepStrictEqual(back({ free: 0, takers, reports }), { b: 3, a: 1 })
  })

  it("by a mechanism that has more than its share, also if people wait there", () => {
    const reports = { a: report({ units: 10, held: 4, needed: 9 }) }
    assert.deepStrictEqual(back({ free: 0, takers: [{ ...a, units: 7 }], reports }), { a: 3 })
    assert.deepStrictEqual(back({ free: 0, takers: [{ ...a, units: 2 }], reports }), { a: 6 })
    assert.deepStrictEqual(back({ free: 0, takers: [], reports }), { a: 6 })
  })

  it("neither from a fixed share nor from those who wait for them", () => {
    const reports = { a: report({ units: 5 }), b: report({ units: 5, needed: 5 }), c: report({ needed: 5 }) }
    assert.deepStrictEqual(back({ free: 0, takers: [{ ...a, units: 5 }, b, { distributionId: "c" }], reports }), {})
  })
})
