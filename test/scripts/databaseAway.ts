/**
 * R14: while the database is away, waiting consumers still read their places, and all other requests are refused with
 * Retry-After. The database is read-only, suspended (SIGSTOP), or shut down in immediate mode. Finally it is suspended
 * for longer than cached places are valid.
 *
 *     npm run prove:database-away -- --seconds 20 --longest 70
 */
import { type Absence, databaseAwayProof } from "../e2e/proofs/DatabaseAwayProof.ts"
import { settledMillis } from "../e2e/load/WaitingScene.ts"
import { conclude, options } from "./Report.ts"

const { seconds, longest } = options({ seconds: 20, longest: 70 })
const slowestMillisMax = 6_500
const slowestLaterMillisMax = 1_000

const ways: ReadonlyArray<{ readonly absence: Absence; readonly awayMillis: number }> = [
  { absence: "read-only", awayMillis: seconds * 1_000 },
  { absence: "stopped", awayMillis: seconds * 1_000 },
  { absence: "ended", awayMillis: seconds * 1_000 },
  { absence: "stopped", awayMillis: longest * 1_000 }
]

for (const [index, figures] of (await databaseAwayProof(ways)).entries()) {
  const { absence, awayMillis } = ways[index]!
  const millis = (value: number) => `${value.toFixed(0)} ms`
  conclude(
    `places are readable while the database is away (${absence} for ${awayMillis / 1_000} s)`,
    {
      "reads that returned a place": figures.shown,
      "reads that returned no place": figures.notShown,
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
