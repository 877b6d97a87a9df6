/**
 * R2 for mechanisms with units: a hundred consumers race for ten, for each kind, and the server is killed in every
 * third race.
 *
 *     npm run prove -- races --races 50 --seed 1
 */
import { raceProof } from "../e2e/proofs/RaceProof.ts"
import { conclude, options } from "./Report.ts"

const { races, seed } = options({ races: 50, seed: 1 })

const figures = await raceProof({ races, seed })

conclude(
  "ten units go to ten consumers",
  { races: figures.races, "races with a kill": figures.kills, "repeated attempts": figures.repeated },
  figures.violations,
  figures.races === races * 3
)
