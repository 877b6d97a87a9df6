import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { upgradeProof } from "../../proofs/upgrade/UpgradeProof.ts"
import { main } from "../../support/ServerUnderTest.ts"

const next = fileURLToPath(new URL("../../support/release/nextReleaseProgram.ts", import.meta.url))

describe("Nodes of two releases under load", () => {
  it("lose and park nothing while they are upgraded, go back, and finish the upgrade", async () => {
    const figures = await upgradeProof({
      former: { name: "former", main },
      next: { name: "next", main: next },
      seed: 7,
      workers: 4
    })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.deepStrictEqual([figures.lost, figures.inversions, figures.parked], [0, 0, 0])
    assert.strictEqual(figures.switches, 4)
    assert.strictEqual(figures.level, 2)
    assert.isAbove(figures.acknowledged, 0)
    assert.isAbove(figures.waits.length, 0)
  })
})
