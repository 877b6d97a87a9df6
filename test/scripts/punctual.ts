/**
 * Every timed transition happens within 250 ms of its time without a request, on an idle machine. A transition that was
 * due during a downtime happens within 250 ms after the server is ready.
 *
 *     npm run prove -- punctual --rounds 1 --each 5 --slots 1 --seed 1
 *
 * A round takes 3 to 4 minutes, because slots last a minute. With --slots 0 it leaves them out and takes half a minute.
 */
import { type Lateness, punctualProof } from "../e2e/proofs/PunctualProof.ts"
import { conclude, median, options } from "./Report.ts"

const { rounds, each, slots, seed } = options({ rounds: 1, each: 5, slots: 1, seed: 1 })
const lateMillisMax = 250

const figures = await punctualProof({ rounds, each, seed, withSlots: slots > 0 })
const lateness = [...figures.lateness.values()]

const columns = ["n", "median", "worst", "n", "median", "worst", "median", "worst"]
const heads = ["", "", "it ran", "", "", "listened", "", "was ready"]
console.log(`\nlate, in ms, while / after downtime since`.padEnd(41) + heads.map((head) => head.padStart(10)).join(""))
console.log("".padEnd(40) + columns.map((column) => column.padStart(10)).join(""))
for (const row of lateness) console.log(lineOf(row))

const late = lateness.flatMap(({ name, live, afterReady }) => [
  ...live.filter(isLate).map((millis) => `${name}: ${millis} ms late`),
  ...afterReady.filter(isLate).map((millis) => `${name}: ${millis} ms after the server was ready`)
])
const count = (of: (row: Lateness) => ReadonlyArray<number>) => lateness.reduce((sum, row) => sum + of(row).length, 0)

conclude(
  "timed transitions happen within 250 ms",
  {
    transitions: lateness.length,
    "observed while it ran": count(({ live }) => live),
    "observed after a downtime": count(({ afterReady }) => afterReady),
    "worst while it ran": worst(({ live }) => live),
    "worst after listening": worst(({ afterListening }) => afterListening),
    "worst after ready": worst(({ afterReady }) => afterReady),
    "from start to listening": `${median(figures.starts.map(({ listening }) => listening)).toFixed(0)} ms (median)`,
    "from start to ready": `${median(figures.starts.map(({ ready }) => ready)).toFixed(0)} ms (median)`,
    "largest delay of an own timer": `${figures.ownTimerMillis.toFixed(0)} ms`
  },
  [...figures.violations, ...late],
  lateness.every(({ live, afterReady }) => live.length > 0 && afterReady.length > 0)
)

function isLate(millis: number): boolean {
  return millis > lateMillisMax
}

function worst(of: (row: Lateness) => ReadonlyArray<number>): string {
  return `${Math.max(...lateness.flatMap(of))} ms`
}

function lineOf({ name, live, afterListening, afterReady }: Lateness): string {
  const cells = [
    live.length,
    median(live),
    Math.max(...live),
    afterReady.length,
    median(afterListening),
    Math.max(...afterListening),
    median(afterReady),
    Math.max(...afterReady)
  ]
  return name.padEnd(40) + cells.map((cell) => String(cell).padStart(10)).join("")
}
