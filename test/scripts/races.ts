/**
 * R2 for whatever has a number of units: a hundred consumers race for ten, of each kind, and the server is killed in every
 * third race.
 *
 *     npm run prove:races -- --races 50 --seed 1
 */
import { raceProof } from "../e2e/proofs/RaceProof.ts"
import { conclude, options } from "./Report.ts"

const { races, seed } = options({ races: 50, seed: 1 })

const figures = await raceProof({ races, seed })

conclude(
  "ten units go to ten consumers",
  { races: figures.races, "of them with a kill in the middle": figures.kills, "attempts repeated": figures.repeated },
  figures.violations,
  figures.races === races * 3
)
