import { assert, describe, it } from "@effect/vitest"
import { crashProof } from "../proofs/CrashProof.ts"
import { pause } from "../support/Processes.ts"

const kills = 3
const seed = 20_261_121

describe("a server that is killed under load", () => {
  it("stores everything that it acknowledged, and nothing that breaks an invariant", async () => {
    const figures = await crashProof({
      kills,
      seed,
      workers: 12,
      start: (server) => server.start(),
      crash: async (server, dice) => {
        await pause(dice.between(30, 500))
        await server.kill()
      }
    })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.lost, 0)
    assert.strictEqual(figures.inversions, 0)
    assert.strictEqual(figures.kills, kills)
    assert.isAbove(figures.acknowledged, 0)
    // How far a kind comes between two kills depends on the machine. The long form counts each kind.
    assert.isAbove(
      Object.values(figures.grants).reduce((sum, grants) => sum + grants, 0),
      0
    )
    assert.isAbove(figures.retries, 0)
  })
})
