import { assert, describe, it } from "@effect/vitest"
import { canStart, title } from "../../http/limits/redisFixture.ts"
import { entriesPerSecond, redisLossProof } from "../proofs/RedisLossProof.ts"

describe.skipIf(!canStart)(title("Losing Redis in a drop"), () => {
  it.each([
    ["two processes with a queue each", false],
    ["two nodes", true]
  ])(
    "harms no result of %s: each process applies the limits alone, and both together once Redis is back",
    async (_, areNodes) => {
      const figures = await redisLossProof({ rounds: 1, seed: 13, areNodes })
      assert.deepStrictEqual(figures.violations.slice(0, 10), [])
      assert.strictEqual(figures.lost, 0)
      assert.isAbove(figures.acknowledged, 500)
      assert.isAbove(figures.refused, 100)
      const { shared, alone, mostOfOne } = figures
      assert.isAtMost(mostOfOne, entriesPerSecond)
      assert.isAtLeast(shared.seconds, 4)
      assert.isAtMost(shared.most, entriesPerSecond)
      assert.isAtLeast(alone.seconds, 2)
      assert.isAbove(alone.most, entriesPerSecond, "each process counted alone")
    }
  )
})
