import { assert, describe, it } from "@effect/vitest"
import { canStart, title } from "../../http/limits/redisFixture.ts"
import { entriesPerSecond, redisLossProof } from "../proofs/RedisLossProof.ts"

describe.skipIf(!canStart)(title("Losing Redis in a drop"), () => {
  it("harms no result of two nodes: each applies the limits alone, and both together once Redis is back", async () => {
    const figures = await redisLossProof({ rounds: 1, seed: 13, areNodes: true, workersPerServer: 14 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.lost, 0)
    assert.isAbove(figures.acknowledged, 0)
    assert.isAbove(figures.refused, 0)
    const { shared, alone, mostOfOne } = figures
    assert.isAtMost(mostOfOne, entriesPerSecond)
    assert.isAtLeast(shared.seconds, 4)
    assert.isAtMost(shared.most, entriesPerSecond)
    assert.isAtLeast(alone.seconds, 2)
    assert.isAbove(alone.most, entriesPerSecond, "each process counted alone")
  })
})
