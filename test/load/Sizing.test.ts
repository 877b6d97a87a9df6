import { assert, describe, it } from "vitest"
import { readFileSync } from "node:fs"
import { emptySecond, type Report } from "../../src/load/Report.ts"
import {
  assumptions,
  benchCosts,
  capacityOf,
  capacityOfProcess,
  type Costs,
  processCosts,
  sizeFor,
  sizingOf
} from "../../src/load/Sizing.ts"
import { Tally } from "../../src/load/Tally.ts"
import { sizingTables } from "./sizingTables.ts"

/** Costs that are easy to compute with: what one shopper causes is whole microseconds a second. */
const costs: Costs = {
  sessionMicros: 120,
  entryMicros: 60,
  statusMicros: 40,
  ownerEntryMicros: 60,
  ownerStatusMicros: 0,
  databaseSessionMicros: 60,
  databaseEntryMicros: 60
}

describe("the size of a drop", () => {
  it("has enough fronts for all shoppers of the first minute, and says how busy owner and database are", () => {
    // A shopper costs the fronts 3 µs a second while it comes, and 2 while it waits.
    const { utilization } = assumptions
    const perFront = (utilization * 1_000_000) / 5
    assert.deepStrictEqual(
      [1, perFront - 1, perFront + 1, 10 * perFront - 1].map((shoppers) => sizeFor(shoppers, costs).fronts),
      [1, 1, 2, 10]
    )
    const { ownerCores, databaseCores } = sizeFor(100_000, costs)
    assert.closeTo(ownerCores, 0.1, 1e-9)
    assert.closeTo(databaseCores, 0.2 / utilization, 1e-9)
  })

  it("is bounded by the fronts on a small machine, by the owner's one core on a large one, and by a small database", () => {
    assert.deepStrictEqual(capacityOf({ cores: 4 }, costs), { shoppers: 350_000, limit: "fronts" })
    assert.deepStrictEqual(capacityOf({ cores: 64 }, costs), { shoppers: 700_000, limit: "owner" })
    assert.deepStrictEqual(capacityOf({ cores: 64, owners: 2 }, costs), { shoppers: 1_400_000, limit: "owner" })
    assert.deepStrictEqual(capacityOf({ cores: 64, owners: 4 }, costs), { shoppers: 2_400_000, limit: "database" })
    assert.deepStrictEqual(capacityOf({ cores: 64, databaseCores: 1 }, costs), { shoppers: 350_000, limit: "database" })
    assert.deepStrictEqual(capacityOf({ cores: 3, databaseCores: 8 }, costs), { shoppers: 280_000, limit: "fronts" })
  })

  it("fits the capacity: what the machines take is what they are sized for", () => {
    for (const cores of [4, 16, 64]) {
      const { shoppers } = capacityOf({ cores }, benchCosts)
      const { fronts, ownerCores, databaseCores } = sizeFor(shoppers, benchCosts)
      assert.isAtMost(ownerCores, assumptions.utilization)
      // The last front is not full.
      assert.isAtMost(fronts - 1 + ownerCores / assumptions.utilization + databaseCores, cores)
    }
  })
})

describe("the sizing of a run", () => {
  it("scales the bench's costs by the processor time that the servers took", () => {
    const report = runOf(2)
    const [measured, assumed, size, most] = sizingOf(report)
    assert.match(measured!, /^Measured: at most 1000 entries in a second, p99 \d+ ms\. The servers took/)
    assert.include(measured!, "2.0 times the bench's machine")
    assert.include(
      assumed!,
      "all come within 60 s to one queue, each looks at its place every 20 s, nothing is busier than 70 %"
    )
    assert.match(
      size!,
      /^1,000 consumers need 1 front, \d\.\d % of the owner's core, and 0\.\d\d cores of the database\.$/
    )
    const half = Number((capacityOfProcess(processCosts) / 2).toPrecision(2)).toLocaleString("en")
    assert.include(most!, `one process ${half}, 4 cores `)
    assert.include(most!, "(owner first)")
  })

  it("says that the servers were not measured if they were not, or if the run had other requests", () => {
    const { servers: _, serverCount: _count, ...unread } = runOf(2)
    for (const report of [unread, { ...runOf(2), watch: "stream" }]) {
      const [measured, assumed] = sizingOf(report)
      assert.include(measured!, "Not the servers' processor time: that needs --metrics-url")
      assert.include(assumed!, "the bench's machine")
    }
  })
})

it("OPERATIONS has the tables that follow from the costs", () => {
  const text = readFileSync(new URL("../../src/cli/OPERATIONS.md", import.meta.url), "utf8")
  for (const table of sizingTables()) assert.include(text, table, `src/cli/OPERATIONS.md should have:\n${table}`)
})

/** A run of a thousand consumers against one process that takes so many times longer than the bench's machine. */
function runOf(factor: number): Report {
  const consumers = 1_000
  const looks = 500
  const tally = new Tally()
  for (let number = 0; number < consumers; number++) {
    tally.count("due", 0)
    tally.enter("queue", `${number}`, 1, 5, 0)
  }
  tally.requests = 2 * consumers + looks
  const { sessionMicros, entryMicros, statusMicros } = processCosts
  const micros = consumers * (sessionMicros + entryMicros) + looks * statusMicros
  return {
    format: "usher-load-1",
    url: "http://127.0.0.1:1",
    startedAt: "2026-11-26T12:00:00.000Z",
    parts: ["1/1"],
    arrival: "herd:1s",
    watch: "poll",
    admitRate: 60,
    ...tally.figures(),
    seconds: [{ ...emptySecond, entered: consumers }],
    proofs: [],
    serverCount: 1,
    servers: [
      { second: 1, cores: (factor * micros) / 1e6, eventLoopMillis: 1, residentMegabytes: 1, waitingEvents: 0 },
      // After the run.
      { second: 9, cores: 1, eventLoopMillis: 1, residentMegabytes: 1, waitingEvents: 0 }
    ]
  }
}
