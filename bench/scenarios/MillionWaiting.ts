/** P4: one queue of a million waiting: entries per second, heap, the cost of a position, restart. */
import { fileURLToPath } from "node:url"
import { type Bench, describe, type Measured, measureEntries, runsInTurns, withProgram } from "../Bench.ts"
import {
  atLeast,
  atMost,
  figures as summarize,
  ratios,
  type ScenarioResult,
  scenarioResult
} from "../report/Figures.ts"
import * as Processes from "../setup/Processes.ts"
import * as Progress from "../report/Progress.ts"
import { usher } from "../programs/Usher.ts"
import { connections } from "./DurableEntries.ts"

/** The output of `measure/positions.ts` for each length. */
interface PositionCost {
  readonly waiting: number
  readonly microsecondsPerPosition: number
}

export async function millionWaiting(bench: Bench): Promise<ScenarioResult> {
  const waiting = bench.arguments.quick ? 100_000 : 1_000_000
  const full = `usher, ${waiting.toLocaleString("en")} waiting`
  const empty = "usher, empty queue"
  const program = usher(bench.setup)
  const variants = [
    { name: empty, ahead: 0 },
    { name: full, ahead: waiting }
  ]
  const measured = await runsInTurns(bench, "P4", variants, ({ ahead }) =>
    withProgram(program, ahead, async (running): Promise<Measured> => {
      const heapMegabytesBeforeLoad = (await running.heapBytes()) / 2 ** 20
      const outcome = await measureEntries(bench, running, { connections, waiting: ahead, spans: bench.spans })
      const { secondsToFirstAnswer, secondsToReady } = running
      return { ...describe(outcome, running, "entry"), heapMegabytesBeforeLoad, secondsToFirstAnswer, secondsToReady }
    })
  )
  const positions = await positionCosts(waiting)
  const last = positions.at(-1)!
  const heapOf = (name: string, run: number) => measured[name]![run]!["heapMegabytesBeforeLoad"]! * 2 ** 20
  const perPlace = measured[full]!.map((_, run) => (heapOf(full, run) - heapOf(empty, run)) / waiting)
  const ofFull = {
    ...summarize(measured[full]!),
    ...summarize(perPlace.map((heapBytesPerPlace) => ({ heapBytesPerPlace }))),
    ...summarize([{ microsecondsPerPosition: last.microsecondsPerPosition }])
  }
  const figures = { [full]: ofFull, [empty]: summarize(measured[empty]!) }
  const against = ratios(figures, full, "entriesPerSecond")
  const targets = [
    atLeast("entries a second ≥ 0.8 × an empty queue's", against[empty], 0.8),
    atMost("≤ 300 B heap a place", ofFull["heapBytesPerPlace"]?.median, 300),
    atMost("a position takes ≤ 5 µs", last.microsecondsPerPosition, 5),
    atMost("restart to ready ≤ 5 s", ofFull["secondsToReady"]?.median, 5)
  ]
  return scenarioResult({
    title: `P4  One queue of ${waiting.toLocaleString("en")} waiting, in turns with an empty one`,
    figures,
    ratios: { "empty queue": against[empty]! },
    targets,
    curves: [
      {
        title: "P4 cost of a position",
        over: "places waiting",
        points: positions.map(({ waiting: x, ...values }) => ({ program: "usher", x, values }))
      }
    ],
    notes: [
      "Heap per place: the process's heap and buffers after a garbage collection, full queue less empty queue.",
      "A position: the queue's view of one random consumer after another, in a separate process, after a tenth of the consumers have left.",
      "Restart: from the start of the process, which reads the journal from the database, to the first response for the queue, and to 200 from /ready, which checks once per second."
    ]
  })
}

async function positionCosts(waiting: number): Promise<ReadonlyArray<PositionCost>> {
  Progress.show("P4: the cost of a position")
  const lengths = [1_000, 10_000, 100_000, 1_000_000].filter((length) => length <= waiting)
  const script = fileURLToPath(new URL("../measure/positions.ts", import.meta.url))
  const printed = await Processes.run(process.execPath, [script, ...lengths.map(String)])
  return JSON.parse(printed) as ReadonlyArray<PositionCost>
}
