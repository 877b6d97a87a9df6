import { assert, describe, it } from "@effect/vitest"
import { type Figures, frontsProof, supervisedProof } from "../proofs/ProcessesProof.ts"

const judge = (figures: Figures, events: ReadonlyArray<string>) => {
  assert.deepStrictEqual(figures.violations.slice(0, 10), [])
  assert.deepStrictEqual([figures.lost, figures.inversions, figures.moved, figures.failed], [0, 0, 0, 0])
  assert.sameMembers([...figures.waits.keys()], [...events])
  assert.isAbove(figures.acknowledged, 0)
  assert.isAbove(figures.inFlight, 0)
  assert.isAbove(figures.retries, 0)
}

describe("An engine and fronts under load", () => {
  // Only Linux lets processes share ports.
  it.runIf(process.platform === "linux")(
    "lose nothing and move no place when each is killed, and their supervisor too, and fail no request on SIGTERM",
    async () => {
      const figures = await supervisedProof({ rounds: 1, seed: 41, workers: 6, isEmbedded: false })
      judge(figures, ["SIGKILL front", "SIGKILL engine", "SIGKILL supervisor", "SIGTERM supervisor"])
    }
  )

  it("as nodes behind a balancer lose nothing when each is killed, and a front comes and goes without an error", async () => {
    const figures = await frontsProof({ rounds: 1, seed: 42, workers: 6 })
    judge(figures, ["SIGKILL front", "SIGKILL engine", "SIGTERM front"])
  })
})
