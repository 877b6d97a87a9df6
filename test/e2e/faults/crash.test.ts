import { assert, describe, it } from "@effect/vitest"
import { crashProof } from "../proofs/CrashProof.ts"
import { pause } from "../support/Processes.ts"

const kills = 10
const seed = 20_261_121

describe("a server that is killed under load", () => {
  it("stores everything that it acknowledged, and nothing that breaks an invariant", async () => {
    const figures = await crashProof({
      kills,
      seed,
      secondsMax: 540,
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
    assert.isAbove(figures.acknowledged, kills * 10)
    for (const kind of ["queue", "draw", "auction", "timed_release", "appointment"] as const) {
      assert.isAbove(figures.grants[kind], 0, kind)
    }
    assert.isAbove(figures.draws, 0)
    assert.isAbove(figures.retries, 0)
  })
})
