/** P8: 10,000 queues on one process: their cost while idle, and entries spread over all of them. */
import { type Bench, describe, type Measured, measureEntries, runsInTurns, withProgram } from "../Bench.ts"
import {
  atLeast,
  atMost,
  figures as summarize,
  ratios,
  type ScenarioResult,
  scenarioResult
} from "../report/Figures.ts"
import { readProcessorSeconds } from "../load/Processor.ts"
import { enterRequest } from "../programs/Program.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { connections } from "./DurableEntries.ts"

/** Seconds after the start before the idle measurement, for compilation and the first collections. */
const settleSeconds = 5

export async function manyMechanisms(bench: Bench): Promise<ScenarioResult> {
  const queues = bench.arguments.quick ? 1_000 : 10_000
  const idleSeconds = bench.arguments.quick ? 5 : 30
  const many = `usher, ${queues.toLocaleString("en")} queues`
  const one = "usher, one queue"
  const variants = [
    { name: one, more: 0 },
    { name: many, more: queues - 1 }
  ]
  const measured = await runsInTurns(bench, "P8", variants, ({ more }) =>
    withProgram(usher(bench.setup, { queues: more }), 0, async (running): Promise<Measured> => {
      const heap = await running.heapBytes()
      const idle = await idlePercent(running, idleSeconds)
      const { tail } = enterRequest(bench.setup.fixture)
      const heads = running.queueIds.map((id) => enterRequest(bench.setup.fixture, id).head)
      const options = { connections, waiting: 0, spans: bench.spans, request: { heads, tail } }
      return {
        ...describe(await measureEntries(bench, running, options), running, "entry"),
        heapMegabytes: heap / 2 ** 20,
        idleProcessorPercent: idle,
        secondsToReady: running.secondsToReady
      }
    })
  )
  const kilobytesPerMechanism = measured[many]!.map((run, round) => ({
    heapKilobytesPerMechanism:
      ((run["heapMegabytes"]! - measured[one]![round]!["heapMegabytes"]!) * 1024) / (queues - 1)
  }))
  const ofMany = { ...summarize(measured[many]!), ...summarize(kilobytesPerMechanism) }
  const figures = { [many]: ofMany, [one]: summarize(measured[one]!) }
  const against = ratios(figures, many, "entriesPerSecond")
  const targets = [
    atMost("idle cost ≤ 1 % of a core", ofMany["idleProcessorPercent"]?.median, 1),
    atMost("≤ 20 KB a mechanism", ofMany["heapKilobytesPerMechanism"]?.median, 20),
    atLeast("entries a second ≥ 0.7 × one queue's", against[one], 0.7)
  ]
  return scenarioResult({
    title: `P8  ${queues.toLocaleString("en")} queues on one process, in turns with one queue`,
    figures,
    ratios: { "one queue": against[one]! },
    targets,
    notes: [
      `Idle: processor time of the server over ${idleSeconds} s without requests.`,
      "Heap per mechanism: heap and buffers after a garbage collection, all queues less one queue.",
      "Entries go to all queues in turns, so each commit contains entries of many queues."
    ]
  })
}

async function idlePercent({ watched }: Inspectable, seconds: number): Promise<number> {
  const server = watched.filter(({ name }) => name === "server")
  await pause(settleSeconds)
  const before = readProcessorSeconds(server)["server"]
  await pause(seconds)
  const after = readProcessorSeconds(server)["server"]
  return before === undefined || after === undefined ? Number.NaN : ((after - before) / seconds) * 100
}

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))
