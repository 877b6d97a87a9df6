/**
 * R1, R2, R4: the server is killed at random times under load.
 *
 *     npm run prove -- crash --kills 200 --seed 1
 */
import * as CrashProof from "../e2e/proofs/CrashProof.ts"
import { grantFigures, recordFigures } from "../e2e/load/Setup.ts"
import { pause } from "../e2e/support/Processes.ts"
import { conclude, options, spread } from "./Report.ts"

const { kills, seed } = options({ kills: 200, seed: 1 })

const figures = await CrashProof.crashProof({
  kills,
  seed,
  start: (server) => server.start(),
  crash: async (server, dice) => {
    await pause(dice.between(30, 800))
    await server.kill()
  },
  onRound: (round, { acknowledged, lost, violations }) =>
    console.log(`kill ${round}: ${acknowledged} acknowledged, ${lost} lost, ${violations.length} violations`)
})

conclude(
  "an acknowledged write survives a kill at any time",
  {
    kills: figures.kills,
    ...recordFigures(figures),
    ...grantFigures(figures),
    "admissions out of sequence": figures.inversions,
    "repeated attempts": figures.retries,
    "from start to ready": spread(figures.restartMillis)
  },
  figures.violations,
  figures.lost === 0 && figures.inversions === 0 && figures.kills === kills && figures.acknowledged > kills
)
