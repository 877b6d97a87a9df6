/**
 * P9: two and three nodes on one database, compared with one node and with one process without clustering. Measures
 * entries spread over many queues through all nodes, and the cost of an entry whose queue another node owns.
 */
import { type Bench, closedLoop, inTurns, type Measured } from "../Bench.ts"
import { atLeast, atMost, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import type { Outcome, RequestTemplates } from "../load/Job.ts"
import { LoadGenerator } from "../load/LoadGenerator.ts"
import { enterRequest, statusRequest } from "../programs/Program.ts"
import { startNodes, type UsherNode, type UsherNodes } from "../programs/UsherNodes.ts"
import { connections } from "./DurableEntries.ts"

const queues = 32

const alone = "usher, one process"
const variants = [
  { name: alone, count: 1, clustered: false },
  { name: "usher, one node", count: 1, clustered: true },
  { name: "usher, two nodes", count: 2, clustered: true },
  { name: "usher, three nodes", count: 3, clustered: true }
] as const
const [, oneNode, twoNodes, threeNodes] = variants

export async function severalNodes(bench: Bench): Promise<ScenarioResult> {
  const figures = await inTurns(bench, "P9", variants, async (variant) => {
    const running = await startNodes(bench.setup, { ...variant, queues })
    try {
      const loaded = await entries(bench, running)
      // After the load, when all code is compiled.
      return { ...loaded, ...(variant === twoNodes && (await latenciesThere(bench, running))) }
    } finally {
      await running.stop()
    }
  })
  const ofTwo = ratios(figures, twoNodes.name, "entriesPerSecond")
  const ofThree = ratios(figures, threeNodes.name, "entriesPerSecond")
  const ofOne = ratios(figures, oneNode.name, "entriesPerSecond")
  const targets = [
    atMost("latency elsewhere ≤ 3 × here", figures[twoNodes.name]?.["latencyElsewhereOverHere"]?.median, 3),
    atLeast("two nodes take ≥ 1 × one node's entries", ofTwo[oneNode.name], 1),
    atLeast("three nodes take ≥ 1 × one node's entries", ofThree[oneNode.name], 1),
    atLeast("one node takes ≥ 0.9 × the entries of a process without clustering", ofOne[alone], 0.9)
  ]
  return scenarioResult({
    title: `P9  Nodes on one database, entries over ${queues} queues, ${connections} connections, closed loop`,
    figures,
    ratios: { "one node": ofTwo[oneNode.name]!, "one process": ofTwo[alone]! },
    targets,
    notes: [
      "Each node has a generator and its share of the connections, which enter all queues in turns. With n nodes, (n − 1) of n entries reach a node that does not own their queue.",
      "Latency here and elsewhere: entries on one connection to one node, into its own queues and into the other node's queues.",
      "All nodes, the generators and Postgres share this machine. The figures show the cost of requests between nodes, not the gain from more machines."
    ]
  })
}

/** New consumers enter all queues through all nodes. Every acknowledged entry must be in the database afterwards. */
async function entries(bench: Bench, running: UsherNodes): Promise<Measured> {
  const { spans } = bench
  const before = await running.countEntries()
  const share = Math.floor(spans.tokens / running.nodes.length)
  const outcomes = await Promise.all(
    running.nodes.map((node, index) =>
      withGenerator(async (generator) => {
        const shown = await generator.run(statusJob(bench, node, share, index * share, spans))
        const usable = shown.statuses["200"] ?? 0
        return generator.run(
          closedLoop({
            port: node.port,
            connections: Math.floor(connections / running.nodes.length),
            warmupSeconds: spans.warmup,
            seconds: spans.measured,
            watched: index === 0 ? running.watched : [],
            request: entering(bench, running.queueIds),
            tokens: bench.tokens.range(usable, index * share)
          })
        )
      })
    )
  )
  const acknowledged = sum(outcomes, ({ statuses }) => statuses["200"] ?? 0)
  const kept = (await running.countEntries()) - before
  if (kept !== acknowledged) throw new Error(`${acknowledged} entries are acknowledged and ${kept} are in the store`)
  const requests = sum(outcomes, (outcome) => outcome.requests)
  const spent = outcomes[0]!.processorSeconds
  return {
    entriesPerSecond: sum(outcomes, ({ perSecond }) => perSecond),
    latencyP99Milliseconds: Math.max(...outcomes.map(({ latency }) => latency.p99)) / 1000,
    serverMicrosecondsPerEntry:
      (running.nodes.reduce((seconds, { name }) => seconds + (spent[name] ?? Number.NaN), 0) / requests) * 1e6,
    databaseMicrosecondsPerEntry: ((spent["database"] ?? Number.NaN) / requests) * 1e6
  }
}

/** Measures entries on one connection to the first node, into its own queues and into another node's queues. */
async function latenciesThere(bench: Bench, running: UsherNodes): Promise<Measured> {
  const [node] = running.nodes as [UsherNode]
  const owners = await running.owners()
  const here = running.queueIds.filter((id) => owners.get(id) === node.name)
  const elsewhere = running.queueIds.filter((id) => owners.has(id) && owners.get(id) !== node.name)
  const { spans } = bench
  const reserve = Math.floor(spans.tokens / 8)
  return withGenerator(async (generator) => {
    const latencyInto = async (queueIds: ReadonlyArray<string>, from: number) => {
      await generator.run(statusJob(bench, node, reserve, from, { warmup: 0, measured: 3 }))
      const outcome = await generator.run(
        closedLoop({
          port: node.port,
          connections: 1,
          warmupSeconds: 1,
          seconds: spans.measured / 2,
          request: entering(bench, queueIds),
          tokens: bench.tokens.range(reserve, from),
          repeatTokens: true
        })
      )
      return outcome.latency.p50 / 1000
    }
    const ofHere = await latencyInto(here, spans.tokens)
    const ofElsewhere = await latencyInto(elsewhere, spans.tokens + reserve)
    return {
      latencyHereP50Milliseconds: ofHere,
      latencyElsewhereP50Milliseconds: ofElsewhere,
      latencyElsewhereOverHere: ofElsewhere / ofHere
    }
  })
}

/** Returns a job in which each consumer reads its status once, so that its token is cached. */
const statusJob = (
  bench: Bench,
  node: UsherNode,
  count: number,
  from: number,
  spans: { readonly warmup: number; readonly measured: number }
) =>
  closedLoop({
    port: node.port,
    connections: 64,
    seconds: (spans.warmup + spans.measured) * 1.5,
    request: statusRequest(bench.setup.fixture),
    tokens: bench.tokens.range(count, from)
  })

const entering = (bench: Bench, queueIds: ReadonlyArray<string>): RequestTemplates => ({
  heads: queueIds.map((id) => enterRequest(bench.setup.fixture, id).head),
  tail: enterRequest(bench.setup.fixture).tail
})

async function withGenerator<A>(use: (generator: LoadGenerator) => Promise<A>): Promise<A> {
  const generator = new LoadGenerator()
  try {
    return await use(generator)
  } finally {
    generator.stop()
  }
}

const sum = (outcomes: ReadonlyArray<Outcome>, of: (outcome: Outcome) => number): number =>
  outcomes.reduce((total, outcome) => total + of(outcome), 0)
