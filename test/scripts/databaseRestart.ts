/**
 * R12: Postgres is shut down in immediate mode every 10 seconds and started again, under load: first with a single
 * process, then with two nodes.
 *
 *     npm run prove -- database-restart --restarts 10 --seed 1
 */
import { recordFigures } from "../e2e/load/Setup.ts"
import { databaseRestartProof } from "../e2e/proofs/DatabaseRestartProof.ts"
import { conclude, median, options, spread } from "./Report.ts"

const { restarts, seed } = options({ restarts: 10, seed: 1 })
const slowestMillisMax = 5_000
const backMillisMax = 5_000

for (const nodes of [1, 2]) {
  const figures = await databaseRestartProof({
    restarts,
    nodes,
    seed,
    onRestart: ({ restarts, awayMillis, backMillis, slowestMillis, violations }) =>
      console.log(
        `restart ${restarts + 1}: away for ${awayMillis.at(-1)!.toFixed(0)} ms, throughput back after ${backMillis.at(-1)!.toFixed(0)} ms, ` +
          `slowest request ${slowestMillis.toFixed(0)} ms, ${violations.length} violations`
      )
  })
  conclude(
    `a restart of the database loses nothing (${nodes === 1 ? "one process" : `${nodes} nodes`})`,
    {
      restarts: figures.restarts,
      "database away for": spread(figures.awayMillis),
      "throughput back after": spread(figures.backMillis),
      "paced requests a second before": `${median(figures.perSecond).toFixed(0)} (median)`,
      requests: figures.requests,
      "refused with 503": figures.postponed,
      "slowest request": `${figures.slowestMillis.toFixed(0)} ms (${figures.slowest})`,
      ...recordFigures(figures),
      "admissions out of sequence": figures.inversions
    },
    figures.violations,
    figures.lost === 0 &&
      figures.inversions === 0 &&
      figures.slowestMillis < slowestMillisMax &&
      Math.max(...figures.backMillis) <= backMillisMax
  )
}
