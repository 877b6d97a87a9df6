import { assert, describe, it } from "@effect/vitest"
import { raceProof } from "../proofs/RaceProof.ts"

describe("a hundred consumers that race for ten units", () => {
  it("give a unit to exactly ten, also if the server is killed during the race", async () => {
    const figures = await raceProof({ races: 3, seed: 7 })
    assert.deepStrictEqual(figures.violations, [])
    assert.strictEqual(figures.races, 9)
    assert.strictEqual(figures.kills, 3)
  })
})
