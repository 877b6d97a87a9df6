/**
 * R7: a node is suspended until others have taken over and changed its mechanisms, and resumes with stale ownership.
 *
 *     npm run prove -- stale-owner --rounds 10 --seed 1
 */
import { recordFigures } from "../e2e/load/Setup.ts"
import { staleOwnerProof } from "../e2e/proofs/StaleOwnerProof.ts"
import { conclude, options } from "./Report.ts"

const { rounds, seed } = options({ rounds: 10, seed: 1 })

const figures = await staleOwnerProof({
  rounds,
  seed,
  onRound: ({ stops, refused, received, answered, violations }) =>
    console.log(
      `stop ${stops + 1}: ${refused} writes refused, ${answered} of ${received} requests completed, ${violations.length} violations`
    )
})

conclude(
  "a stale owner cannot write, and shows no stale state",
  {
    stops: figures.stops,
    "writes of old owners refused": figures.refused,
    "requests found on resuming": figures.received,
    "completed requests": figures.answered,
    ...recordFigures(figures),
    "admissions out of sequence": figures.inversions
  },
  figures.violations,
  figures.lost === 0 && figures.inversions === 0 && figures.refused >= rounds && figures.stops === rounds
)
