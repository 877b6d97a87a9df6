/**
 * Processes with roles: fronts, the engine and their supervisor are killed and stopped in turns, under load of every kind.
 * First on one machine, with `--processes` and the embedded Postgres, then as three nodes behind HAProxy.
 *
 *     npm run prove -- processes --rounds 10 --seed 1
 */
import { grantFigures, recordFigures } from "../e2e/load/Setup.ts"
import { type Figures, frontsProof, supervisedProof } from "../e2e/proofs/ProcessesProof.ts"
import { conclude, options, spread } from "./Report.ts"

const { rounds, seed } = options({ rounds: 10, seed: 1 })

/** How soon the service answers again after a kill, on a quiet machine. */
const answersMillisMax = 5_000

/** A quiet machine is ready in this time. A slower one may take as many times longer to answer again. */
const quietReadyMillis = 2_500

const onRound = (event: string, { acknowledged, lost, moved, violations, waits }: Figures) =>
  console.log(
    `${event}: ${acknowledged} acknowledged, ${lost} lost, ${moved} moved, ${violations.length} violations, longest wait ${waits.get(event)!.at(-1)!.toFixed(0)} ms`
  )

const judge = (promise: string, figures: Figures) => {
  const slowness = Math.max(1, figures.readyMillis / quietReadyMillis)
  const waits = [...figures.waits]
  conclude(
    promise,
    {
      ...recordFigures(figures),
      ...grantFigures(figures),
      "admissions out of sequence": figures.inversions,
      "places that moved": figures.moved,
      ...Object.fromEntries(
        waits.map(([event, millis]) => [`longest waits, ${event}`, `${millis.length}: ${spread(millis)}`])
      ),
      ...Object.fromEntries(
        [...figures.returns].map(([event, millis]) => [`until all are ready, ${event}`, spread(millis)])
      ),
      "in progress at SIGTERM": figures.inFlight,
      failed: figures.failed,
      "repeated attempts": figures.retries,
      "from start to ready, without load": `${figures.readyMillis.toFixed(0)} ms: ${slowness.toFixed(1)} times a quiet machine`
    },
    figures.violations,
    figures.lost === 0 &&
      figures.inversions === 0 &&
      figures.moved === 0 &&
      figures.failed === 0 &&
      waits.every(
        ([event, millis]) => !event.startsWith("SIGKILL") || Math.max(...millis) < answersMillisMax * slowness
      )
  )
}

judge(
  "processes of one machine may be killed and stopped without any loss",
  await supervisedProof({ rounds, seed, isEmbedded: true, onRound })
)
judge("so may an engine and fronts behind a balancer", await frontsProof({ rounds, seed, onRound }))
