/**
 * R7: a node is stopped until others have taken its mechanisms over and changed them, and wakes up believing that it still
 * owns them.
 *
 *     npm run prove:stale-owner -- --rounds 10 --seed 1
 */
import { recordFigures } from "../e2e/load/Ground.ts"
import { staleOwnerProof } from "../e2e/proofs/StaleOwnerProof.ts"
import { conclude, options } from "./Report.ts"

const { rounds, seed } = options({ rounds: 10, seed: 1 })

const figures = await staleOwnerProof({
  rounds,
  seed,
  onRound: ({ stops, refused, asked, answered, violations }) =>
    console.log(
      `stop ${stops + 1}: ${refused} writes refused, ${answered} of ${asked} requests answered, ${violations.length} violations`
    )
})

conclude(
  "a stale owner cannot write, and shows nothing old",
  {
    stops: figures.stops,
    "writes of old owners refused": figures.refused,
    "requests found on waking up": figures.asked,
    "of them answered": figures.answered,
    ...recordFigures(figures),
    "admissions out of order": figures.inversions
  },
  figures.violations,
  figures.lost === 0 && figures.inversions === 0 && figures.refused >= rounds && figures.stops === rounds
)
