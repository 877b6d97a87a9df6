import { assert, describe, it } from "@effect/vitest"
import { allMet, atLeast, atMost, figures, median, ratioInRounds, ratios } from "../../../bench/report/Figures.ts"
import { makeHistogram, record, summarize } from "../../../bench/load/Histogram.ts"
import { poisson } from "../../../src/load/Arrivals.ts"

describe("the bench's figures", () => {
  it("take the middle run, or the mean of the two in the middle", () => {
    assert.strictEqual(median([5, 1, 3]), 3)
    assert.strictEqual(median([4, 1, 3, 2]), 2.5)
    assert.isNaN(median([]))
  })

  it("keep every run with its span, and leave out figures that a run did not measure", () => {
    const of = figures([{ rate: 10, heap: 5 }, { rate: 30 }, { rate: 20 }])
    assert.deepStrictEqual(of["rate"], { runs: [10, 30, 20], min: 10, median: 20, max: 30 })
    assert.deepStrictEqual(of["heap"], { runs: [5], min: 5, median: 5, max: 5 })
  })

  it("compare medians", () => {
    const all = { usher: figures([{ rate: 40 }]), noop: figures([{ rate: 50 }]), idle: figures([{ other: 1 }]) }
    assert.deepStrictEqual(ratios(all, "usher", "rate"), { noop: 0.8 })
    assert.deepStrictEqual(ratios(all, "missing", "rate"), {})
  })

  it("compare two variants within each round, whatever the pace of the machine in it", () => {
    const all = {
      with: figures([{ rate: 9 }, { rate: 90 }, { rate: 4 }]),
      without: figures([{ rate: 10 }, { rate: 100 }, { rate: 8 }])
    }
    assert.strictEqual(ratioInRounds(all, { of: "with", to: "without" }, "rate"), 0.9)
    assert.isNaN(ratioInRounds(all, { of: "with", to: "missing" }, "rate"))
  })

  it("judge only measured figures", () => {
    assert.isTrue(atLeast("a", 4, 4).met)
    assert.isFalse(atMost("b", 4.1, 4).met)
    assert.isNull(atLeast("c", undefined, 4).met)
    assert.isTrue(allMet([atLeast("a", 4, 4), atLeast("c", undefined, 4)]))
    assert.isFalse(allMet([atLeast("a", 4, 4), atMost("b", 5, 4)]))
    assert.isNull(allMet([atLeast("c", undefined, 4)]))
  })
})

describe("latencies", () => {
  it("come out as percentiles in microseconds, to three digits", () => {
    const histogram = makeHistogram()
    for (let milliseconds = 1; milliseconds <= 1000; milliseconds++) record(histogram, milliseconds)
    const { p50, p99, max, mean } = summarize(histogram)
    assert.closeTo(p50, 500_000, 500)
    assert.closeTo(p99, 990_000, 990)
    assert.closeTo(max, 1_000_000, 1000)
    assert.closeTo(mean, 500_500, 600)
  })

  it("are kept within the histogram's range", () => {
    const histogram = makeHistogram()
    record(histogram, 0)
    record(histogram, 1e9)
    assert.strictEqual(summarize(histogram).p50, 1)
    assert.isAtMost(summarize(histogram).max, 601_000_000)
  })

  it("are all zero when nothing was recorded", () => {
    assert.deepStrictEqual(summarize(makeHistogram()), { mean: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 })
  })
})

describe("arrivals at a set rate", () => {
  it("come at that rate, irregularly, and the same for the same seed", () => {
    const due = poisson(1000, 20, 7)
    assert.closeTo(due.length, 20_000, 600)
    assert.deepStrictEqual([...due.subarray(0, 50)], [...poisson(1000, 20, 7).subarray(0, 50)])
    assert.notDeepEqual([...due.subarray(0, 50)], [...poisson(1000, 20, 8).subarray(0, 50)])
    const gaps = [...due].map((at, index) => at - (due[index - 1] ?? 0))
    assert.isTrue(gaps.every((gap) => gap >= 0))
    // Of a Poisson stream's gaps, the share longer than the mean is 1/e.
    assert.closeTo(gaps.filter((gap) => gap > 1).length / gaps.length, Math.exp(-1), 0.02)
  })
})
