import { assert, describe, it } from "@effect/vitest"
import { databaseAwayProof } from "../../proofs/DatabaseAwayProof.ts"

const absences = ["read-only", "stopped", "ended"] as const

describe("while the database is away, waiting consumers read their places, and writes are refused with Retry-After", () => {
  it("whether it is read-only, its process is suspended and its sockets stay open, or it is shut down", async () => {
    const all = await databaseAwayProof(absences.map((absence) => ({ absence, awayMillis: 9_000 })))
    assert.strictEqual(all.length, absences.length)
    for (const [index, figures] of all.entries()) {
      const absence = absences[index]
      assert.deepStrictEqual(figures.violations.slice(0, 10), [], absence)
      assert.strictEqual(figures.lost, 0, absence)
      assert.isAbove(figures.acknowledged, 0, absence)
      assert.isAbove(figures.shown, 0, absence)
      assert.isAbove(figures.writesRefused, 0, absence)
    }
  })
})
