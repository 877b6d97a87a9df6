/**
 * R8: the server kills itself between decision, commit, response and the writing of places.
 *
 *     npm run prove -- failpoints --each 50 --seed 1
 */
import { failpointProof } from "../e2e/proofs/FailpointProof.ts"
import { grantFigures } from "../e2e/load/Setup.ts"
import { conclude, options, spread } from "./Report.ts"

const { each, seed } = options({ each: 50, seed: 1 })

const figures = await failpointProof({
  each,
  seed,
  onRound: (round, { acknowledged, lost, violations }) =>
    console.log(`crash ${round}: ${acknowledged} acknowledged, ${lost} lost, ${violations.length} violations`)
})

conclude(
  "a crash between decision, commit, response and the writing of places is invisible",
  {
    "kills after the decision": figures.fired.decided,
    "kills after the commit": figures.fired.committed,
    "kills after the response": figures.fired.answered,
    "kills before places are written": figures.fired.placesTaken,
    "kills after places are written": figures.fired.placesWritten,
    "acknowledged writes": figures.acknowledged,
    "lost, or read but not in the journal": figures.lost,
    "reads compared with the journal": figures.reads,
    "events in the journal": figures.events,
    ...grantFigures(figures),
    "repeated attempts": figures.retries,
    "from start to ready": spread(figures.restartMillis)
  },
  figures.violations,
  figures.lost === 0 && Math.min(...Object.values(figures.fired)) >= each
)
