import { assert, describe, it } from "@effect/vitest"
import { stockProof, transferSteps } from "../proofs/StockProof.ts"

const kills = 3
const seed = 20_261_128

describe("a stock whose server is killed while all work on it", () => {
  it("has every unit in one place if it dies between the two events of a transfer", async () => {
    const figures = await stockProof({ kills, seed, nodes: 1, steps: transferSteps, workers: 6 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.kills, kills)
  })

  for (const nodes of [1, 3]) {
    it(`has every unit in one place and sells none twice: ${nodes === 1 ? "one process" : "three nodes"}`, async () => {
      const figures = await stockProof({ kills, seed, nodes, workers: 6 })
      assert.deepStrictEqual(figures.violations.slice(0, 10), [])
      assert.strictEqual(figures.kills, kills)
      assert.isAbove(figures.done.orders, 0)
    })
  }
})
