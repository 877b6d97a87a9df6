/** The charts of a drop: their lines are reckoned back from the present, and their markup runs nothing. */
import { assert, describe, it } from "@effect/vitest"
import { pointsOf } from "../../../src/pages/dashboard/drop/Chart.ts"
import { chartMarkup, roundedUp } from "../../../src/pages/dashboard/drop/ChartMarkup.ts"

const minute = 60_000

describe("A chart", () => {
  it("reckons a line back from its present value by what raised and lowered it", () => {
    const line = { up: ["entered"], down: ["granted"] }
    const buckets = [
      { time_bucket: 0, series: { entered: 5 } },
      { time_bucket: minute, series: { entered: 2, granted: 3 } }
    ]
    const span = { from: 10_000, to: 2 * minute, length: minute }
    assert.deepStrictEqual(pointsOf(line, 4, buckets, span), [
      [10_000, 0],
      [minute, 5],
      [2 * minute, 4]
    ])
    // Who left after a grant is not known here, so a line is never below zero.
    assert.deepStrictEqual(pointsOf(line, 0, buckets, span)[0], [10_000, 0])
  })

  it("has round numbers on its axis, in whole steps", () => {
    assert.deepStrictEqual(
      [1, 4, 5, 9, 13, 79, 81, 1_146].map((value) => roundedUp(value)),
      [4, 4, 8, 12, 20, 80, 120, 1_200]
    )
  })

  it("writes the value at each line's end, apart from each other, and every text as text", () => {
    const at = Date.parse("2026-11-21T17:00:00Z")
    const points = (value: number) => [[at, 0] as const, [at + minute, value] as const]
    const markup = chartMarkup({
      from: at,
      to: at + minute,
      timeZone: "Europe/Paris",
      lines: [
        { name: "waiting", points: points(7) },
        { name: "<b>admitted", points: points(7) },
        { name: "entries", one: "entry", points: points(1) }
      ],
      acts: [{ at: at + 1_000, text: `paused: <script>alert("1")</script>` }]
    })
    assert.include(markup, ">18:00<")
    assert.include(markup, ">7 waiting<")
    assert.include(markup, ">7 &lt;b&gt;admitted<")
    assert.include(markup, ">1 entry<")
    assert.notInclude(markup, "<script")
    const ends = [...markup.matchAll(/class="end \w+" x="630" y="([\d.]+)"/g)].map(([, y]) => Number(y))
    assert.strictEqual(ends[1]! - ends[0]!, 15)
  })
})
