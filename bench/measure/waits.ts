/**
 * Measures what the range of the wait adds to an admission by rate, and what a range costs. For each given length of the
 * line, as many are admitted as enter, and some leave. A line that head starts have moved has no ranges, so it shows the
 * rest of the cost. Prints JSON.
 */
import { deciders } from "../../src/domain/mechanism/Mechanism.ts"
import { waitRangeOf } from "../../src/domain/queue/wait/WaitRange.ts"
import { median } from "../report/Figures.ts"

const repetitions = 5
const queue = deciders.queue
const admitRate = 6_000
const admissions = 40_000

/** Admissions between two entries of as many. */
const batch = 10

function measure(waiting: number) {
  const runs = Array.from({ length: repetitions }, () => ({ with: run(waiting, false), without: run(waiting, true) }))
  const withRange = median(runs.map((pair) => pair.with.admission))
  const without = median(runs.map((pair) => pair.without.admission))
  return {
    waiting,
    microsecondsAdded: median(runs.map((pair) => pair.with.admission - pair.without.admission)),
    withRange,
    without,
    microsecondsPerRange: median(runs.map((pair) => pair.with.range)),
    cohorts: median(runs.map((pair) => pair.with.cohorts))
  }
}

/** Returns the microseconds of an admission, and of a range. */
function run(waiting: number, isMoved: boolean) {
  const start = Date.now()
  const state = queue.initial()
  const configuration = {
    name: "bench",
    timeZone: "UTC",
    supportsGuest: true,
    admitRate,
    recycleExpiredAdmissions: false,
    loyaltyBiasEnabled: false,
    loyaltyHeadStartSeconds: 60
  }
  queue.evolve(state, { _tag: "Configured", at: start, by: "bench", configuration })
  state.line.isMoved = isMoved
  let at = start
  let entries = 0
  const enter = () => queue.evolve(state, { _tag: "Entered", at, consumerId: `c${entries++}` })
  for (let index = 0; index < waiting; index++) {
    at = start + Math.floor((index * 60_000) / waiting)
    enter()
  }
  let admission = 0
  for (let index = 0; index < admissions; index += batch) {
    const line = state.waiting.head(batch)
    const from = performance.now()
    for (const { consumerId } of line) {
      at += 10
      queue.evolve(state, { _tag: "Granted", at, consumerId })
    }
    admission += performance.now() - from
    for (let more = 0; more < line.length + 1; more++) enter()
    queue.evolve(state, { _tag: "Left", at, consumerId: state.waiting.last!.consumerId })
  }
  const seen = state.waiting.head(10_000)
  const from = performance.now()
  for (const place of seen) waitRangeOf(state, place)
  const range = performance.now() - from
  return {
    admission: (admission * 1_000) / admissions,
    range: (range * 1_000) / seen.length,
    cohorts: state.wait.cohorts.length
  }
}

console.log(JSON.stringify(process.argv.slice(2).map((length) => measure(Number(length)))))
