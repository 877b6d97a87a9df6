import { assert, describe, it } from "@effect/vitest"
import { defaultLeaving, noteLeft, noteStayed, shareThatStays } from "../../../../src/domain/queue/wait/Leaving.ts"

const none = () => ({
  leavers: [...defaultLeaving.leavers],
  staySeconds: [...defaultLeaving.staySeconds]
})

describe("leaving", () => {
  it("takes one in a hundred a minute before anything is known", () => {
    assert.closeTo(shareThatStays(defaultLeaving, 0, 60), 0.99, 0.001)
    assert.strictEqual(shareThatStays(defaultLeaving, 500, 0), 1)
  })

  it("is learned for each age", () => {
    const leaving = none()
    // Of 1,000 who stay 10 seconds each, 200 leave; none later.
    for (let index = 0; index < 200; index++) noteLeft(leaving, 10)
    noteStayed(leaving, 10, 10_000)
    noteStayed(leaving, 20, 100_000)
    assert.closeTo(shareThatStays(leaving, 0, 15), Math.exp((-15 * 200.6) / 13_600), 1e-9)
    assert.isAbove(shareThatStays(leaving, 16, 10), 0.999)
    assert.closeTo(
      shareThatStays(leaving, 0, 30),
      shareThatStays(leaving, 0, 15) * shareThatStays(leaving, 15, 15),
      1e-12
    )
  })
})
