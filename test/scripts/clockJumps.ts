/**
 * R10: a process starts on a machine whose clock is two minutes ahead. Then that clock moves forward by an hour, back by
 * two minutes, and to the right time again. The time of the process is the database's all the while.
 *
 *     npm run prove -- clock-jumps --rounds 3
 */
import { type Figures, clockJumpsProof, mostInASecondMax } from "../e2e/proofs/ClockJumpsProof.ts"
import { conclude, options, spread } from "./Report.ts"

const { rounds } = options({ rounds: 3 })
const lateMillisMax = 1_000

const all: Array<Figures> = []
for (let round = 1; round <= rounds; round++) {
  const figures = await clockJumpsProof()
  all.push(figures)
  console.log(`round ${round}: timers late ${spread(figures.lateMillis)}, ${figures.violations.length} violations`)
}
const sum = (of: (figures: Figures) => number) => all.reduce((total, figures) => total + of(figures), 0)
const late = all.flatMap(({ lateMillis }) => lateMillis)
const mostInASecond = Math.max(...all.map((figures) => figures.mostInASecond))

conclude(
  "a clock jump causes no early transition",
  {
    jumps: sum(({ jumps }) => jumps),
    "lateness of timers": `${late.length}: ${spread(late)}`,
    "timers that no jump made due": sum(({ untouched }) => untouched),
    grants: sum(({ grants }) => grants),
    "most admissions within a second": `${mostInASecond}, of ${mostInASecondMax}`
  },
  all.flatMap(({ violations }) => violations),
  Math.max(...late) <= lateMillisMax && mostInASecond <= mostInASecondMax
)
