import { assert, describe, it } from "vitest"
import { instants, parseArrival, parsePart, partOf, peakOf } from "../../src/load/Arrivals.ts"

const within = (due: Float64Array, from: number, to: number) => due.filter((at) => at >= from && at < to).length

describe("arrivals", () => {
  it("are read from their text, and nothing else is", () => {
    assert.deepStrictEqual(parseArrival("herd:10s"), { kind: "herd", seconds: 10 })
    assert.deepStrictEqual(parseArrival("poisson:500/s"), { kind: "poisson", perSecond: 500 })
    assert.deepStrictEqual(parseArrival("ramp:0-2000/s:5m"), { kind: "ramp", from: 0, to: 2_000, seconds: 300 })
    for (const text of ["herd:0s", "herd:10", "poisson:0/s", "ramp:0-0/s:5m", "ramp:0-5/s", "wave:3s", ""]) {
      assert.isUndefined(parseArrival(text), text)
    }
  })

  it("of a herd lie within its time, in order, and are the same for the same seed", () => {
    const due = instants({ kind: "herd", seconds: 10 }, 1_000, 3)
    assert.deepStrictEqual(due, due.toSorted())
    assert.strictEqual(within(due, 0, 10_000), 1_000)
    assert.deepStrictEqual(due, instants({ kind: "herd", seconds: 10 }, 1_000, 3))
    assert.notDeepEqual(due, instants({ kind: "herd", seconds: 10 }, 1_000, 4))
    assert.strictEqual(peakOf({ kind: "herd", seconds: 10 }, 1_000), 100)
  })

  it("of a Poisson process have its rate, and those of a ramp grow", () => {
    const steady = instants({ kind: "poisson", perSecond: 500 }, 5_000, 7)
    assert.closeTo(steady.at(-1)!, 10_000, 600)
    const ramp = instants({ kind: "ramp", from: 0, to: 1_000, seconds: 10 }, 5_000, 7)
    assert.isAbove(within(ramp, 8_000, 9_000), 4 * within(ramp, 1_000, 2_000))
    assert.closeTo(within(ramp, 8_000, 9_000), 850, 120)
  })

  it("belong to exactly one of several parts", () => {
    const due = instants({ kind: "herd", seconds: 1 }, 101, 1)
    const parts = [1, 2, 3].map((part) => partOf(due, { part, of: 3 }))
    assert.deepStrictEqual(
      parts.flatMap((part) => [...part]).toSorted((a, b) => a - b),
      [...due]
    )
    assert.deepStrictEqual(parsePart("2/3"), { part: 2, of: 3 })
    for (const text of ["0/3", "4/3", "1", "1/0"]) assert.isUndefined(parsePart(text), text)
  })
})
