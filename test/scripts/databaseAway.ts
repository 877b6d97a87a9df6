/**
 * R21: while the database is away, waiting consumers still read their places, and all other requests are refused with
 * Retry-After. The database is read-only, suspended (SIGSTOP), or shut down in immediate mode. Finally it is suspended
 * for longer than cached places are valid. Then the same on three nodes behind the HAProxy of `docker-compose.yml`; without
 * HAProxy on this machine the nodes are asked in turns.
 *
 *     npm run prove -- database-away --seconds 20 --longest 70
 */
import { databaseAwayFromNodesProof, databaseAwayProof, type Way } from "../e2e/proofs/DatabaseAwayProof.ts"
import { isInstalled } from "../e2e/support/Balancer.ts"
import type { Figures } from "../e2e/load/WaitingScene.ts"
import { settledMillis } from "../e2e/load/WaitingScene.ts"
import { conclude, options } from "./Report.ts"

const { seconds, longest, only } = options({ seconds: 20, longest: 70, only: "" })
const slowestMillisMax = 6_500
const slowestLaterMillisMax = 1_000

const ways: ReadonlyArray<Way> = [
  { absence: "read-only", awayMillis: seconds * 1_000 },
  { absence: "stopped", awayMillis: seconds * 1_000 },
  { absence: "ended", awayMillis: seconds * 1_000 },
  { absence: "stopped", awayMillis: longest * 1_000 }
]

const show = (where: string, all: ReadonlyArray<Figures>) => {
  for (const [index, figures] of all.entries()) showOne(where, ways[index]!, figures)
}

function showOne(where: string, { absence, awayMillis }: Way, figures: Figures): void {
  const millis = (value: number) => `${value.toFixed(0)} ms`
  conclude(
    `${where}: places are readable while the database is away (${absence} for ${awayMillis / 1_000} s)`,
    {
      "reads that returned a place": figures.shown,
      "reads that returned no place": figures.notShown,
      "places with their instant": figures.marked,
      "slowest read": millis(figures.slowestMillis),
      [`slowest read after ${settledMillis / 1_000} s`]: millis(figures.slowestLaterMillis),
      "refused writes": figures.writesRefused,
      "slowest refused write": millis(figures.slowestWriteMillis),
      "first write after": millis(figures.backMillis),
      "acknowledged entries": figures.acknowledged,
      "lost entries": figures.lost
    },
    figures.violations,
    figures.lost === 0 &&
      figures.shown > 0 &&
      figures.slowestMillis < slowestMillisMax &&
      figures.slowestLaterMillis < slowestLaterMillisMax
  )
}

if (only !== "nodes") show("one process", await databaseAwayProof(ways))
if (only !== "process") show(isInstalled ? "HAProxy" : "three nodes", await databaseAwayFromNodesProof(ways))
