import { assert, describe, it } from "@effect/vitest"
import type { Figures } from "../../load/WaitingScene.ts"
import { databaseAwayFromNodesProof, databaseAwayProof } from "../../proofs/DatabaseAwayProof.ts"
import { isInstalled } from "../../support/Balancer.ts"

const absences = ["read-only", "stopped", "ended"] as const

/** Checks the figures of each absence. */
const check = (all: ReadonlyArray<Figures>) => {
  assert.strictEqual(all.length, absences.length)
  for (const [index, figures] of all.entries()) {
    const absence = absences[index]
    assert.deepStrictEqual(figures.violations.slice(0, 10), [], absence)
    assert.strictEqual(figures.lost, 0, absence)
    assert.isAbove(figures.acknowledged, 0, absence)
    assert.isAbove(figures.shown, 0, absence)
    assert.isAbove(figures.writesRefused, 0, absence)
  }
}

describe("while the database is away, waiting consumers read their places, and writes are refused with Retry-After", () => {
  it("whether it is read-only, its process is suspended and its sockets stay open, or it is shut down", async () => {
    check(await databaseAwayProof(absences.map((absence) => ({ absence, awayMillis: 9_000 }))))
  })

  it(`also on three nodes ${isInstalled ? "behind HAProxy" : "in turns, because there is no haproxy on the path"}`, async () => {
    const all = await databaseAwayFromNodesProof(absences.map((absence) => ({ absence, awayMillis: 12_000 })))
    check(all)
    for (const figures of all) assert.isAbove(figures.marked, 0)
  })
})
