import { assert, describe, it } from "vitest"
import { choices, parseMix } from "../../src/load/Mix.ts"

describe("a mix", () => {
  it("is read as weights, without those of nothing", () => {
    assert.deepStrictEqual(parseMix("queue=70, draw=30"), [
      ["queue", 70],
      ["draw", 30]
    ])
    assert.deepStrictEqual(parseMix("queue=1,auction=0"), [["queue", 1]])
    for (const text of ["", "queue", "queue=x", "lottery=1", "toString=1", "queue=0", "queue=1,queue=2", "queue=-1"]) {
      assert.isUndefined(parseMix(text), text)
    }
  })

  it("gives each consumer one choice, by weight, the same for a seed and shared between parts", () => {
    const mix = parseMix("queue=60,draw=30,waitlist=10")!
    const all = choices(mix, 10_000, 7, { part: 1, of: 1 })
    const share = (kind: string) => all.filter((chosen) => chosen === kind).length / all.length
    assert.closeTo(share("queue"), 0.6, 0.02)
    assert.closeTo(share("draw"), 0.3, 0.02)
    assert.closeTo(share("waitlist"), 0.1, 0.02)
    assert.deepStrictEqual(choices(mix, 10_000, 7, { part: 1, of: 1 }), all)
    const parts = [1, 2, 3].map((part) => choices(mix, 10_000, 7, { part, of: 3 }))
    const joined: ReadonlyArray<unknown> = all.map((_, index) => parts[index % 3]![Math.floor(index / 3)])
    assert.deepStrictEqual(joined, all)
  })
})
