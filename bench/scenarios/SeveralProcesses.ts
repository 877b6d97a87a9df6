/**
 * P16: `usher serve --processes` with one, two and three processes, and one queue. Measures what an entry costs each of
 * them, and computes from it what machines with more cores take.
 */
import { assumptions, capacityOf, type Costs, sizeFor } from "../../src/load/Sizing.ts"
import { type Bench, inTurns, type Measured } from "../Bench.ts"
import { startProcesses, type UsherProcesses } from "../programs/UsherProcesses.ts"
import { atMost, type Figures, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { number } from "../report/Report.ts"
import { connections } from "./DurableEntries.ts"
import { entriesThrough } from "./NodesLoad.ts"

const variants = [1, 2, 3].map((count) => ({
  name: count === 1 ? "usher, one process" : `usher, ${count} processes`,
  count
}))
const [one, ...several] = variants
const coreCounts = [4, 8, 16, 64]

export async function severalProcesses(bench: Bench): Promise<ScenarioResult> {
  const figures = await inTurns(bench, "P16", variants, async ({ count }) => {
    const running = await startProcesses(bench.setup, count)
    try {
      return await measure(bench, running)
    } finally {
      await running.stop()
    }
  })
  const sum = ratios(figures, one!.name, "usherMicrosecondsPerEntry")
  return scenarioResult({
    title: `P16  usher serve --processes 1, 2 and 3, one queue, ${connections} connections, closed loop`,
    figures,
    targets: several.map(({ name }) =>
      atMost(`${name}: the sum of processor an entry ≤ 1.3 × one process`, inverse(sum[name]), 1.3)
    ),
    notes: [
      "The first of the processes is the engine; the others are fronts on the same ports. `usher…` is the sum of all, the supervisor included. Connections spread over the fronts by the kernel, so each connection shows its own consumers' tokens first.",
      ...sizeLines(figures)
    ]
  })
}

async function measure(bench: Bench, running: UsherProcesses): Promise<Measured> {
  const served = { ...running, ports: [running.port], queueIds: [bench.setup.fixture.queueId] }
  const requests = await entriesThrough(bench, served, connections)
  const each = running.names.map((name): [string, number] => [name, requests.microseconds(name)])
  return {
    entriesPerSecond: requests.perSecond,
    latencyP99Milliseconds: requests.latencyP99Milliseconds,
    usherMicrosecondsPerEntry: each.reduce((total, [, microseconds]) => total + microseconds, 0),
    ...Object.fromEntries(each.map(([name, value]) => [`${name.replace("-", "")}MicrosecondsPerEntry`, value])),
    databaseMicrosecondsPerEntry: requests.microseconds("database")
  }
}

/** Returns the lines of the table of machines, from the run with the most processes. */
function sizeLines(figures: { readonly [variant: string]: Figures }): ReadonlyArray<string> {
  const of = figures[several.at(-1)!.name]!
  const median = (name: string) => of[`${name}MicrosecondsPerEntry`]?.median ?? Number.NaN
  const costs: Costs = {
    sessionMicros: 0,
    entryMicros: median("usher") - median("engine"),
    statusMicros: 0,
    ownerEntryMicros: median("engine"),
    ownerStatusMicros: 0,
    databaseSessionMicros: 0,
    databaseEntryMicros: median("database")
  }
  if (Object.values(costs).some((cost) => !Number.isFinite(cost))) {
    return [
      "Sizes of machines: not computed, for the processor time of the processes or the database is not known here."
    ]
  }
  const { entryMicros, ownerEntryMicros, databaseEntryMicros } = costs
  const { utilization, databaseEntriesPerSecondMax, rushSeconds } = assumptions
  return [
    `What one queue takes on more cores, computed: the least of cores × u / (front + owner + database), u / owner, and ${number(databaseEntriesPerSecondMax)}, which one Postgres commits; u = ${utilization}.`,
    `Here front ${number(entryMicros)} µs with the supervisor, owner ${number(ownerEntryMicros)} µs, database ${number(databaseEntryMicros)} µs. Sessions are not in it; the load comes from elsewhere.`,
    ...coreCounts.map((cores) => {
      const { shoppers, limit } = capacityOf({ cores }, costs)
      const rate = number(shoppers / rushSeconds).padStart(8)
      return `${String(cores).padStart(4)} cores: ${rate} entries/s with ${sizeFor(shoppers, costs).fronts} fronts; full first: ${limit}`
    })
  ]
}

const inverse = (ratio: number | undefined): number | undefined => (ratio === undefined ? undefined : 1 / ratio)
