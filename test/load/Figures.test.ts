import { assert, describe, it } from "vitest"
import { Latencies } from "../../src/load/Latencies.ts"
import { emptySecond, failuresOf, mergeReports, parseConditions, type Report } from "../../src/load/Report.ts"
import { sumsOf } from "../../src/load/ServerSeries.ts"
import { Tally } from "../../src/load/Tally.ts"

const reportOf = (startedAt: string, tally: Tally): Report => ({
  format: "usher-load-1",
  url: "http://127.0.0.1:1",
  startedAt,
  parts: ["1/1"],
  arrival: "herd:1s",
  watch: "poll",
  admitRate: 60,
  ...tally.figures(),
  proofs: [{ claim: "It holds", holds: true, detail: "checked" }]
})

describe("latencies", () => {
  it("give percentiles within 3 %, from microseconds to minutes", () => {
    const latencies = new Latencies()
    for (let value = 1; value <= 10_000; value++) latencies.add(value)
    for (const share of [0.5, 0.9, 0.99, 0.999, 1]) {
      const exact = share * 10_000
      assert.isAtLeast(latencies.quantile(share)!, exact)
      assert.isBelow(latencies.quantile(share)! / exact, 1.04)
    }
    const small = new Latencies()
    small.add(0.005)
    small.add(0)
    assert.deepStrictEqual([small.quantile(0.5), small.quantile(1)], [0, 0.005])
    assert.isNull(new Latencies().quantile(0.5))
  })

  it("keep their counts through their stored form", () => {
    const latencies = new Latencies()
    for (const value of [0.01, 3, 250, 70_000]) latencies.add(value)
    const stored = Latencies.of(JSON.parse(JSON.stringify(latencies.toCounts())))
    assert.deepStrictEqual([stored.count, stored.quantile(0.75)], [4, latencies.quantile(0.75)])
  })
})

describe("readings of servers", () => {
  it("add up the measures of the servers, and take the longest delay", () => {
    const text = (processor: number, delay: number) =>
      [
        "# HELP usher_processor_seconds_total Processor time.",
        `usher_processor_seconds_total ${processor}`,
        'usher_event_loop_delay_seconds{statistic="p50"} 0.9',
        `usher_event_loop_delay_seconds{statistic="max"} ${delay}`,
        "usher_resident_memory_bytes 1048576",
        'usher_journal_waiting_events{shard="1"} 2',
        'usher_journal_waiting_events{shard="2"} 3'
      ].join("\n")
    assert.deepStrictEqual(sumsOf([text(1.5, 0.02), text(2, 0.01)]), {
      processorSeconds: 3.5,
      eventLoopSeconds: 0.02,
      residentBytes: 2_097_152,
      waitingEvents: 10
    })
  })
})

describe("conditions", () => {
  const tally = new Tally()
  for (let index = 0; index < 100; index++) {
    tally.count("due", 10)
    tally.requests++
    tally.enter("queue", `${index}`, undefined, index < 98 ? 20 : 400, 500)
  }
  tally.fail("503", 900)
  tally.unsent = 1
  const report = reportOf("2026-01-01T00:00:00.000Z", tally)
  const failures = (text: string) => failuresOf(report, parseConditions(text)!)

  it("fail a run that exceeds them, and name the measured values", () => {
    assert.deepStrictEqual(failures("p50>250ms,errors>1%,unsent>1%"), [])
    assert.match(failures("p99>250ms")[0]!, /^p99>250ms: 40\d\.\d ms$|^p99>250ms: 41\d\.\d ms$/)
    assert.deepStrictEqual(failures("errors>0.1%"), ["errors>0.1%: 1.00 %"])
    assert.deepStrictEqual(failures("unsent>0.1%"), ["unsent>0.1%: 0.99 %"])
    const unproven = { ...report, proofs: [{ claim: "It holds", holds: false, detail: "1, first: a" }] }
    assert.deepStrictEqual(failuresOf(unproven, []), ["It holds: 1, first: a"])
    const idle = reportOf("2026-01-01T00:00:00.000Z", new Tally())
    assert.deepStrictEqual(failuresOf(idle, parseConditions("p99>1s")!), ["p99>1s: no entry"])
  })

  it("are refused if they are of another shape", () => {
    for (const text of ["p99", "p99>250", "errors>5ms", "p95>1s", ""]) assert.isUndefined(parseConditions(text), text)
  })
})

describe("parts of a run", () => {
  it("are added second by second, from the time of day at which each began", () => {
    const [one, two] = [new Tally(), new Tally()]
    one.count("due", 100)
    one.enter("queue", "a", 1, 10, 150)
    one.refuse("auction")
    two.count("due", 100)
    two.enter("auction", "b", undefined, 1_000, 1_100)
    two.enter("queue", "c", 1, 2_000, 1_100)
    two.grant("queue", "c", 1_150)
    two.fail("no answer", 1_200)
    const merged = mergeReports([reportOf("2026-01-01T00:00:02.000Z", two), reportOf("2026-01-01T00:00:00.000Z", one)])
    assert.strictEqual(merged.startedAt, "2026-01-01T00:00:00.000Z")
    assert.deepStrictEqual(
      merged.kinds!.map(({ kind, entered, refused, granted }) => [kind, entered, refused, granted]),
      [
        ["auction", 1, 1, 0],
        ["queue", 2, 0, 1]
      ]
    )
    assert.isAbove(merged.kinds![1]!.latency.max!, 1_900)
    assert.deepStrictEqual(
      merged.seconds.map(({ due, entered, errors }) => [due, entered, errors]),
      [
        [1, 1, 0],
        [0, 0, 0],
        [1, 0, 0],
        [0, 2, 1]
      ]
    )
    assert.deepStrictEqual(merged.seconds[1], emptySecond)
    assert.deepInclude(merged.totals, { due: 2, entered: 3, errors: 1, errorsBy: { "no answer": 1 } })
    assert.isAbove(merged.latency.max!, 990)
    assert.strictEqual(merged.proofs.length, 2)
  })
})
