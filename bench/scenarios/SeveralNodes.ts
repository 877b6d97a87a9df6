/**
 * P9: two and three nodes on one database, compared with one node and with one process without clustering. Measures
 * entries spread over many queues through all nodes, and the cost of an entry whose queue another node owns.
 */
import { type Bench, closedLoop, inTurns, type Measured } from "../Bench.ts"
import { atLeast, atMost, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { statusRequest } from "../programs/Program.ts"
import { startNodes, type UsherNode, type UsherNodes } from "../programs/UsherNodes.ts"
import { connections } from "./DurableEntries.ts"
import { entering, entriesThrough, withGenerator } from "./NodesLoad.ts"

const queues = 32

const alone = "usher, one process"
const variants = [
  { name: alone, roles: ["alone"] },
  { name: "usher, one node", roles: ["all"] },
  { name: "usher, two nodes", roles: ["all", "all"] },
  { name: "usher, three nodes", roles: ["all", "all", "all"] }
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

/** New consumers enter all queues through all nodes. */
async function entries(bench: Bench, running: UsherNodes): Promise<Measured> {
  const requests = await entriesThrough(
    bench,
    { ...running, ports: running.nodes.map(({ port }) => port) },
    connections
  )
  return {
    entriesPerSecond: requests.perSecond,
    latencyP99Milliseconds: requests.latencyP99Milliseconds,
    serverMicrosecondsPerEntry: running.nodes.reduce((total, { name }) => total + requests.microseconds(name), 0),
    databaseMicrosecondsPerEntry: requests.microseconds("database")
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
