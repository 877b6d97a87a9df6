import { assert, describe, it } from "@effect/vitest"
import { roomsProof } from "../../proofs/rooms/RoomsProof.ts"

describe("a server that is killed while visitors come to a room", () => {
  it("keeps each visitor's one place, in order, and gives each one grant", async () => {
    const figures = await roomsProof({ visitors: 40, seed: 20_261_123, admitRate: 600, arrivalSeconds: 2 })
    assert.deepStrictEqual(figures.violations.slice(0, 10), [])
    assert.strictEqual(figures.places, 40)
    assert.strictEqual(figures.grants, 40)
    assert.strictEqual(figures.inversions, 0)
    assert.isAtLeast(figures.toldBefore, 20)
    assert.isAbove(figures.retries, 0)
  })
})
