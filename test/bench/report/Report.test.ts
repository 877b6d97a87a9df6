import { assert, describe, it } from "@effect/vitest"
import { allMet, atLeast, figures, ratios, type ScenarioResult } from "../../../bench/report/Figures.ts"
import type { Machine } from "../../../bench/report/Machine.ts"
import { toSvg } from "../../../bench/report/Picture.ts"
import { type Report, toJson, toTable } from "../../../bench/report/Report.ts"

const machine: Machine = {
  processors: 2,
  processorModel: "a processor",
  memoryGigabytes: 8,
  system: "linux",
  node: "v24.0.0",
  postgres: "PostgreSQL 18",
  postgresSource: "embedded",
  postgresSettings: { fsync: "on" },
  redis: "not run: none",
  fdatasyncMicroseconds: 900,
  loadAverageAtStart: 0.1,
  at: "2026-11-21T00:00:00.000Z",
  commit: "unknown"
}

const all = {
  usher: figures([{ entriesPerSecond: 9_000 }, { entriesPerSecond: 11_000 }, { entriesPerSecond: 10_000 }]),
  "fastify-postgres": figures([{ entriesPerSecond: 4_000 }])
}
const against = ratios(all, "usher", "entriesPerSecond")
const targets = [atLeast("≥ 4 × fastify-postgres", against["fastify-postgres"], 4)]
const scenario: ScenarioResult = {
  title: "P1  Entries",
  figures: all,
  ratios: against,
  processorRatios: { "fastify-postgres": 1.5 },
  targets,
  met: allMet(targets),
  curves: [
    {
      title: "P1 entries",
      over: "connections",
      points: [1, 10, 100].map((x) => ({ program: "usher", x, values: { entriesPerSecond: x * 100 } }))
    }
  ],
  notRun: { "fastify-redis": "no redis-server on the path" },
  notes: []
}
const report: Report = { machine, quick: false, scenarios: { P1: scenario } }

describe("the bench's report", () => {
  it("gives machine, figures with every run, ratios and verdict as JSON", () => {
    const read = JSON.parse(toJson(report)) as Report
    assert.strictEqual(read.machine.processors, 2)
    assert.deepStrictEqual(read.scenarios["P1"]!.figures["usher"]!["entriesPerSecond"]!.runs, [9_000, 11_000, 10_000])
    assert.deepStrictEqual(read.scenarios["P1"]!.ratios, { "fastify-postgres": 2.5 })
    assert.strictEqual(read.scenarios["P1"]!.met, false)
  })

  it("shows medians with their span, missed targets and scenarios that did not run", () => {
    const table = toTable(scenario)
    assert.match(table, /entriesPerSecond\s+10,000 \(9,000 … 11,000\)\s+4,000/)
    assert.match(table, /MISSED\s+≥ 4 × fastify-postgres\s+\(2\.5\)/)
    assert.match(table, /not run\s+fastify-redis: no redis-server on the path/)
  })

  it("draws bars and curves without a browser", async () => {
    const svg = await toSvg(report)
    assert.match(svg, /^<svg/)
    for (const text of ["durable entries a second", "fastify-postgres", "P1 entries", "connections"])
      assert.include(svg, text)
    assert.notInclude(svg, "NaN")
  })
})
