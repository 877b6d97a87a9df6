import { assert, describe, it } from "@effect/vitest"
import { databaseAwayProof } from "../proofs/DatabaseAwayProof.ts"

describe("while the database is away, those who wait read their places, and writes are told to come back", () => {
  for (const [absence, what] of [
    ["read-only", "it takes no writes"],
    ["stopped", "it is stopped, and its sockets stay open"],
    ["ended", "it is ended, and its connections are cut"]
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
