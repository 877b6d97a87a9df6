/**
 * P16: `usher serve --processes` with one, two and three processes, and one queue. Measures what an entry costs each of
 * them, and computes from it what machines with more cores take.
 */
import { type Bench, inTurns, type Measured } from "../Bench.ts"
import { startProcesses, type UsherProcesses } from "../programs/UsherProcesses.ts"
import { atMost, type Figures, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { number } from "../report/Report.ts"
import { type Costs, formula, sizing } from "../report/Sizing.ts"
import { connections } from "./DurableEntries.ts"
import { appendEntries } from "./JournalAlone.ts"
import { entriesThrough } from "./NodesLoad.ts"

const variants = [1, 2, 3].map((count) => ({
  name: count === 1 ? "usher, one process" : `usher, ${count} processes`,
  count
}))
const [one, ...several] = variants
const coreCounts = [4, 8, 16, 64]
const utilisation = 0.7

/** Entries in a commit of a busy queue, for the table. */
const commit = 1_000

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
      ...(await sizeLines(bench, figures))
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
async function sizeLines(bench: Bench, figures: { readonly [variant: string]: Figures }): Promise<Array<string>> {
  const of = figures[several.at(-1)!.name]!
  const median = (name: string) => of[`${name}MicrosecondsPerEntry`]?.median ?? Number.NaN
  const { entriesPerSecond } = await appendEntries(bench, { commit })
  const costs: Costs = {
    frontMicroseconds: median("usher") - median("engine"),
    ownerMicroseconds: median("engine"),
    databaseMicroseconds: median("database"),
    journalEntriesPerSecond: entriesPerSecond!
  }
  if (Object.values(costs).some((cost) => !Number.isFinite(cost))) {
    return [
      "Sizes of machines: not computed, for the processor time of the processes or the database is not known here."
    ]
  }
  return [
    `What one queue takes on more cores, computed, not measured: ${formula}.`,
    `Here front ${number(costs.frontMicroseconds)} µs with the supervisor, owner ${number(costs.ownerMicroseconds)} µs, database ${number(costs.databaseMicroseconds)} µs, journal ${number(costs.journalEntriesPerSecond)} entries/s in commits of ${commit}, u = ${utilisation}. Sessions are not in it; the load comes from elsewhere.`,
    ...coreCounts.map((cores) => {
      const { entriesPerSecond, fronts, limit } = sizing(costs, cores, utilisation)
      return `${String(cores).padStart(4)} cores: ${number(entriesPerSecond).padStart(8)} entries/s with ${fronts} fronts; the limit: ${limit}`
    })
  ]
}

const inverse = (ratio: number | undefined): number | undefined => (ratio === undefined ? undefined : 1 / ratio)
