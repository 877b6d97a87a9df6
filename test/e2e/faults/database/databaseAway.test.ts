import { assert, describe, it } from "@effect/vitest"
import type { Figures } from "../../load/WaitingScene.ts"
import { databaseAwayFromNodesProof, databaseAwayProof } from "../../proofs/DatabaseAwayProof.ts"
import { isInstalled } from "../../support/Balancer.ts"

const absences = ["read-only", "stopped", "ended"] as const

/** Returns what the figures of each absence show against the promise. */
const problemsOf = (all: ReadonlyArray<Figures>): ReadonlyArray<string> =>
  all.flatMap((figures, index) => {
    const { acknowledged, lost, shown, violations, writesRefused } = figures
    const isKept = lost === 0 && Math.min(acknowledged, shown, writesRefused) > 0
    return [...violations.slice(0, 10), ...(isKept ? [] : [JSON.stringify({ absence: absences[index], ...figures })])]
  })

describe("while the database is away, waiting consumers read their places, and writes are refused with Retry-After", () => {
  it("whether it is read-only, its process is suspended and its sockets stay open, or it is shut down", async () => {
    const all = await databaseAwayProof(absences.map((absence) => ({ absence, awayMillis: 9_000 })))
    assert.deepStrictEqual([all.length, problemsOf(all)], [absences.length, []])
  })

  it(`also on three nodes ${isInstalled ? "behind HAProxy" : "in turns, because there is no haproxy on the path"}`, async () => {
    const all = await databaseAwayFromNodesProof(absences.map((absence) => ({ absence, awayMillis: 12_000 })))
    assert.deepStrictEqual([all.length, problemsOf(all)], [absences.length, []])
    for (const figures of all) assert.isAbove(figures.marked, 0)
  })
})
