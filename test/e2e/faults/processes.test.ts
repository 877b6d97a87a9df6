import { assert, describe, it } from "@effect/vitest"
import { type Figures, frontsProof, supervisedProof } from "../proofs/ProcessesProof.ts"

const assertActive = (figures: Figures, events: ReadonlyArray<string>) => {
  assert.sameMembers([...figures.waits.keys()], [...events])
  assert.isAbove(figures.acknowledged, 0)
  assert.isAbove(figures.inFlight, 0)
  assert.isAbove(figures.retries, 0)
}

const faultsOf = ({ violations, lost, inversions, moved, failed }: Figures) => ({
  violations: violations.slice(0, 10),
  lost,
  inversions,
  moved,
  failed
})
const none = { violations: [], lost: 0, inversions: 0, moved: 0, failed: 0 }

describe("An engine and fronts under load", () => {
  // Only Linux lets processes share ports.
  it.runIf(process.platform === "linux")(
    "lose nothing and move no place when each is killed, and their supervisor too, and fail no request on SIGTERM",
    async () => {
      const figures = await supervisedProof({ rounds: 1, seed: 41, workers: 6, isEmbedded: false })
      assert.deepStrictEqual(faultsOf(figures), none)
      assertActive(figures, ["SIGKILL front", "SIGKILL engine", "SIGKILL supervisor", "SIGTERM supervisor"])
    }
  )

  it("as nodes behind a balancer lose nothing when each is killed, and a front comes and goes without an error", async () => {
    const figures = await frontsProof({ rounds: 1, seed: 42, workers: 6 })
    assert.deepStrictEqual(faultsOf(figures), none)
    assertActive(figures, ["SIGKILL front", "SIGKILL engine", "SIGTERM front"])
  })
})
