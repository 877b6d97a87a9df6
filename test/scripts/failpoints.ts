/**
 * R8: the server kills itself between deciding, committing and answering.
 *
 *     npm run prove:failpoints -- --each 50 --seed 1
 */
import { failpointProof } from "../e2e/proofs/FailpointProof.ts"
import { grantFigures } from "../e2e/load/Ground.ts"
import { conclude, options, spread } from "./Report.ts"

const { each, seed } = options({ each: 50, seed: 1 })

const figures = await failpointProof({
  each,
  seed,
  onRound: (round, { acknowledged, lost, violations }) =>
    console.log(`crash ${round}: ${acknowledged} acknowledged, ${lost} lost, ${violations.length} violations`)
})

conclude(
  "a crash between deciding, committing and answering is invisible",
  {
    "fired after deciding": figures.fired.decided,
    "fired after committing": figures.fired.committed,
    "fired after answering": figures.fired.answered,
    "acknowledged writes": figures.acknowledged,
    "lost, or seen without being on record": figures.lost,
    "reads held against the record": figures.reads,
    "events on record": figures.events,
    ...grantFigures(figures),
    "attempts that were repeated": figures.retries,
    "from start to ready": spread(figures.restartMillis)
  },
  figures.violations,
  figures.lost === 0 && Math.min(...Object.values(figures.fired)) >= each
)
