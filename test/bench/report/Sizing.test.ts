import { assert, describe, it } from "@effect/vitest"
import { type Costs, sizing } from "../../../bench/report/Sizing.ts"

const costs: Costs = {
  frontMicroseconds: 60,
  ownerMicroseconds: 10,
  databaseMicroseconds: 30,
  journalEntriesPerSecond: 1_000_000
}

describe("The size of a machine", () => {
  it("is bounded by its cores first, and then by the owner's one thread", () => {
    // 4 cores × 0.7 = 2.8 s of processor a second, and an entry takes 100 µs.
    assert.deepStrictEqual(sizing(costs, 4), { cores: 4, entriesPerSecond: 28_000, fronts: 3, limit: "fronts" })
    // 0.7 s of the owner's thread a second, and an entry takes 10 µs of it.
    assert.deepStrictEqual(sizing(costs, 64), { cores: 64, entriesPerSecond: 70_000, fronts: 6, limit: "owner" })
  })

  it("is bounded by the writes of one queue's commits", () => {
    const size = sizing({ ...costs, journalEntriesPerSecond: 50_000 }, 64)
    assert.strictEqual(size.limit, "journal")
    assert.closeTo(size.entriesPerSecond, 35_000, 1e-6)
  })

  it("names the database where it uses more of the cores than the fronts", () => {
    assert.strictEqual(sizing({ ...costs, databaseMicroseconds: 90 }, 4).limit, "database")
  })

  it("grows with the cores and with the utilisation, and needs a front at any rate", () => {
    assert.isBelow(sizing(costs, 8, 0.5).entriesPerSecond, sizing(costs, 8, 0.7).entriesPerSecond)
    const rates = [1, 2, 4, 8, 16, 64].map((cores) => sizing(costs, cores).entriesPerSecond)
    assert.deepStrictEqual(
      rates,
      rates.toSorted((a, b) => a - b)
    )
    assert.strictEqual(sizing({ ...costs, frontMicroseconds: 0 }, 1).fronts, 1)
  })
})
