import { assert, describe, it } from "@effect/vitest"
import { by, counter, gauge, histogram, only, toText } from "../../src/measures/Family.ts"
import { Histogram } from "../../src/measures/Histogram.ts"

describe("toText", () => {
  it("writes each series with its labels, and escapes their values", () => {
    const text = toText([
      counter("usher_a_total", "Some.", by("code", [["X", 2]], { kind: 'a "b"' })),
      gauge("usher_b_seconds", "Others.", only(1.5))
    ])
    assert.deepStrictEqual(text.split("\n"), [
      "# HELP usher_a_total Some.",
      "# TYPE usher_a_total counter",
      String.raw`usher_a_total{kind="a \"b\"",code="X"} 2`,
      "# HELP usher_b_seconds Others.",
      "# TYPE usher_b_seconds gauge",
      "usher_b_seconds 1.5",
      ""
    ])
  })

  it("counts in each bucket of a histogram all values up to its bound", () => {
    const values = new Histogram([1, 10])
    for (const value of [0.5, 1, 2, 10, 11]) values.add(value)
    assert.deepStrictEqual(
      toText([histogram("usher_c", "Values.", only(values))])
        .split("\n")
        .slice(2),
      [
        'usher_c_bucket{le="1"} 2',
        'usher_c_bucket{le="10"} 4',
        'usher_c_bucket{le="+Inf"} 5',
        "usher_c_sum 24.5",
        "usher_c_count 5",
        ""
      ]
    )
  })
})
