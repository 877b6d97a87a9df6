/**
 * Several nodes on one database: a random node is killed every 10 seconds and started again, under load of every kind
 * through all nodes. Then each node stops gracefully and starts again.
 *
 *     npm run prove -- nodes --seconds 180 --nodes 3 --seed 1
 */
import { grantFigures, recordFigures } from "../e2e/load/Setup.ts"
import { nodesProof } from "../e2e/proofs/NodesProof.ts"
import { conclude, median, options, spread } from "./Report.ts"

const { seconds, nodes, seed } = options({ seconds: 180, nodes: 3, seed: 1 })
const unservedMillisMax = 5_000
const handOverMillisMax = 1_000

const figures = await nodesProof({
  seconds,
  nodes,
  seed,
  onRound: (round, { kills, acknowledged, lost, violations, waits }) =>
    console.log(
      `${round} after ${kills} kills: ${acknowledged} acknowledged, ${lost} lost, ${violations.length} violations, ` +
        `unserved ${spread(waits[round])} so far`
    )
})

conclude(
  "nodes may crash and leave without any loss",
  {
    nodes,
    kills: figures.kills,
    "of them between messages of nodes": figures.killsBetween,
    "graceful stops": figures.leaves,
    ...recordFigures(figures),
    ...grantFigures(figures),
    "admissions out of sequence": figures.inversions,
    "mechanisms of killed nodes": figures.waits.kill.length,
    unserved: spread(figures.waits.kill),
    "mechanisms of leaving nodes": figures.waits.leave.length,
    "handed over in": spread(figures.waits.leave),
    "lateness of timers around a kill": `${figures.late.kill.length}: ${spread(figures.late.kill)}`,
    "lateness of timers around a stop": `${figures.late.leave.length}: ${spread(figures.late.leave)}`,
    "live streams that continued": figures.streams,
    "in flight at leaving nodes": figures.inFlight,
    "repeated attempts": figures.retries,
    "from start to ready": spread(figures.restartMillis)
  },
  figures.violations,
  figures.lost === 0 &&
    figures.inversions === 0 &&
    Math.max(...figures.waits.kill) < unservedMillisMax &&
    median(figures.waits.leave) < handOverMillisMax
)
