import { assert, describe, it } from "vitest"
import { evaluate, firing, scrapeOf } from "./Evaluation.ts"
import { parse } from "./Expression.ts"

const text = (scale: number) => `# HELP a b
# TYPE a counter
requests_total{api="consumer",code="5\\"x"} ${10 * scale}
requests_total{api="admin"} ${4 * scale}
used 80
most 100
offset -3
until +Inf
seconds_bucket{api="consumer",le="0.1"} ${90 * scale}
seconds_bucket{api="consumer",le="0.5"} ${100 * scale}
seconds_bucket{api="consumer",le="+Inf"} ${100 * scale}
`
const scrapes = [scrapeOf(text(1), 100), scrapeOf(text(3), 110)]
const value = (expression: string) => {
  const result = evaluate(parse(expression), scrapes)
  return typeof result === "number" ? result : result.map((sample) => sample.value)
}

describe("the evaluator of conditions", () => {
  it("selects, calculates and compares as Prometheus does", () => {
    assert.deepStrictEqual(value("1 + 2 * 3 - 4 / 2"), 5)
    assert.deepStrictEqual(value('requests_total{api="admin"}'), [12])
    assert.deepStrictEqual(value("used / most"), [0.8])
    assert.deepStrictEqual(value("abs(offset) > 2"), [3])
    assert.deepStrictEqual(value("until < 14 * 86400"), [])
    assert.deepStrictEqual(value("used / most > 0.8"), [])
    assert.deepStrictEqual(value("used == 80"), [80])
    assert.deepStrictEqual(value("max(requests_total)"), [30])
    assert.deepStrictEqual(value("sum by (api) (requests_total)"), [30, 12])
    assert.deepStrictEqual(value("unknown > 0"), [])
  })

  it("derives rates, quantiles and maxima of ranges", () => {
    assert.deepStrictEqual(value('rate(requests_total{api="admin"}[1m])'), [0.8])
    assert.deepStrictEqual(value("rate(used[5s])"), [], "one scrape has no rate")
    assert.deepStrictEqual(value("max_over_time(used[1m]) > 80"), [])
    const [p99] = value("histogram_quantile(0.99, sum by (le) (rate(seconds_bucket[5m])))") as ReadonlyArray<number>
    assert.closeTo(p99!, 0.46, 1e-9)
    assert.deepStrictEqual(firing("histogram_quantile(0.9, rate(seconds_bucket[5m])) > 0.1", scrapes), [])
  })

  it("counts the increments of a counter since its restart", () => {
    const restarted = [scrapeOf(text(3), 100), scrapeOf(text(1), 110)]
    const result = evaluate(parse('rate(requests_total{api="admin"}[1m])'), restarted)
    assert.deepStrictEqual(result, [{ labels: { api: "admin" }, value: 0.4 }])
  })

  it("refuses unsupported expressions", () => {
    for (const unknown of ["irate(used[1m])", 'used{a=~"b"}', "used offset 5m", "(used", "used unless most"]) {
      assert.throws(() => parse(unknown), /./, unknown)
    }
    assert.throws(() => firing("1", scrapes), /not a condition/)
    assert.throws(() => evaluate(parse("used[1m]"), scrapes), /needs a function/)
  })
})
