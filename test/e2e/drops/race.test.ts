import { assert, describe, it } from "@effect/vitest"
import { raceProof } from "../proofs/RaceProof.ts"

describe("a hundred consumers who race for ten units", () => {
  it("leave exactly ten with one, also when the server is killed in the middle", async () => {
    const figures = await raceProof({ races: 3, seed: 7 })
    assert.deepStrictEqual(figures.violations, [])
    assert.strictEqual(figures.races, 9)
    assert.strictEqual(figures.kills, 3)
  })
})
