import { assert, describe, it } from "@effect/vitest"
import { databaseAwayProof } from "../proofs/DatabaseAwayProof.ts"

describe("while the database is away, waiting consumers read their places, and writes are refused with Retry-After", () => {
  for (const [absence, what] of [
    ["read-only", "the database is read-only"],
    ["stopped", "the database process is suspended, and its sockets stay open"],
    ["ended", "the database is shut down, and its connections are closed"]
  ] as const) {
    it(what, async () => {
      const figures = await databaseAwayProof({ absence, awayMillis: 9_000 })
      assert.deepStrictEqual(figures.violations.slice(0, 10), [])
      assert.strictEqual(figures.lost, 0)
      assert.isAbove(figures.shown, 200)
      assert.isAbove(figures.writesRefused, 2)
      assert.isBelow(figures.slowestMillis, 6_500)
    })
  }
})
