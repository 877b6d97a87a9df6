/**
 * R14: while the database is away, consumers who wait go on reading their places, and everything else is told to come back:
 * it takes no writes, or it is stopped (SIGSTOP), or it is ended in its immediate mode. At last it is stopped for longer
 * than memory serves.
 *
 *     npm run prove:database-away -- --seconds 20 --longest 70
 */
import { type Absence, databaseAwayProof } from "../e2e/proofs/DatabaseAwayProof.ts"
import { settledMillis } from "../e2e/load/WaitingScene.ts"
import { conclude, options } from "./Report.ts"

const { seconds, longest } = options({ seconds: 20, longest: 70 })
const slowestMillisMax = 6_500
const slowestLaterMillisMax = 1_000

let holds = true
for (const [absence, awaySeconds] of [
  ["read-only", seconds],
  ["stopped", seconds],
  ["ended", seconds],
  ["stopped", longest]
] as ReadonlyArray<[Absence, number]>) {
  const figures = await databaseAwayProof({ absence, awayMillis: awaySeconds * 1_000 })
  const millis = (value: number) => `${value.toFixed(0)} ms`
  conclude(
    `places are shown while the database is away (${absence} for ${awaySeconds} s)`,
    {
      "places shown": figures.shown,
      "places not shown": figures.notShown,
      "slowest place": millis(figures.slowestMillis),
      [`slowest place after ${settledMillis / 1_000} s`]: millis(figures.slowestLaterMillis),
      "writes told to come back": figures.writesRefused,
      "slowest of them": millis(figures.slowestWriteMillis),
      "writes go on after": millis(figures.backMillis),
      "acknowledged entries": figures.acknowledged,
      "lost of them": figures.lost
    },
    figures.violations,
    figures.lost === 0 &&
      figures.shown > 0 &&
      figures.slowestMillis < slowestMillisMax &&
      figures.slowestLaterMillis < slowestLaterMillisMax
  )
  holds &&= process.exitCode === 0
}
process.exitCode = holds ? 0 : 1
