/**
 * P15: one queue that everybody wants, owned by a node that serves no consumers, behind one and two fronts, compared with
 * one process alone. Measures what an entry and a read cost the owner and the fronts, and how many reads reach the owner.
 */
import { type Bench, closedLoop, inTurns, type Measured } from "../Bench.ts"
import { enterRequest, leaveRequest, statusRequest } from "../programs/Program.ts"
import { startNodes, type UsherNodes } from "../programs/UsherNodes.ts"
import { atMost, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { connections } from "./DurableEntries.ts"
import {
  entriesThrough,
  type Requests,
  requestsThrough,
  type Served,
  shareOf,
  watchedLoad,
  withGenerator
} from "./NodesLoad.ts"

/** The consumers that poll through each front, in turns. */
const polling = 2_000

/** While the line moves, so many consumers leave its head in a second. The first so many consumers do nothing else. */
const leavesPerSecond = 50
const leaving = 500

const alone = "usher, one process"
const variants = [
  { name: alone, roles: ["alone"] },
  { name: "usher, one front", roles: ["engine", "front"] },
  { name: "usher, two fronts", roles: ["engine", "front", "front"] }
] as const
const [, ...behindFronts] = variants

export async function hotQueue(bench: Bench): Promise<ScenarioResult> {
  const figures = await inTurns(bench, "P15", variants, async ({ roles }) => {
    const running = await startNodes(bench.setup, { roles, queues: 1 })
    try {
      return await measure(bench, running)
    } finally {
      await running.stop()
    }
  })
  const of = (variant: string, figure: string) => figures[variant]?.[figure]?.median
  const ofAlone = of(alone, "serverMicrosecondsPerEntry")
  const share = (microseconds: number | undefined) =>
    microseconds === undefined || ofAlone === undefined ? undefined : microseconds / ofAlone
  const targets = behindFronts.flatMap(({ name }) => [
    atMost(
      `${name}: the owner's processor an entry ≤ 0.25 × alone`,
      share(of(name, "ownerMicrosecondsPerEntry")),
      0.25
    ),
    atMost(`${name}: a front's processor an entry ≤ 1.25 × alone`, share(of(name, "frontMicrosecondsPerEntry")), 1.25),
    atMost(`${name}: reads at the owner ≤ 0.05`, of(name, "readsAtOwnerShare"), 0.05),
    atMost(`${name}: the same while the line moves ≤ 0.05`, of(name, "readsAtOwnerShareWhileMoving"), 0.05)
  ])
  return scenarioResult({
    title: `P15  One hot queue behind fronts, ${connections} connections, closed loop`,
    figures,
    targets,
    notes: [
      "A front's time for an entry is that of all fronts, divided by all entries; each entry passes one front. All times include everything that the process does, writes after the run too.",
      `Reads: ${polling} waiting consumers of each front poll in turns. The share at the owner counts every question that the nodes sent each other meanwhile, whatever it was about, for each read. The line moves when ${leavesPerSecond} consumers a second leave its head; their own questions are not counted.`,
      "All processes, the generators and Postgres share this machine: compare processor time, not rates."
    ]
  })
}

async function measure(bench: Bench, running: UsherNodes): Promise<Measured> {
  const serving = running.nodes.filter(({ role }) => role !== "engine")
  const served: Served = { ...running, ports: serving.map(({ port }) => port) }
  const entries = await entriesThrough(bench, served, connections)
  const consumers = shareOf(bench, served)
  await enterAll(bench, served, consumers)
  const reads = await counting(running, () => poll(bench, served, consumers, bench.spans))
  const moving = { warmup: 0, measured: bench.spans.measured / 2 }
  const whileMoving = await counting(running, () =>
    Promise.all([poll(bench, served, consumers, moving), leave(bench, served, moving.measured)])
  )
  const [movingReads, left] = whileMoving.result
  const isAlone = running.nodes.length === 1
  return {
    entriesPerSecond: entries.perSecond,
    latencyP99Milliseconds: entries.latencyP99Milliseconds,
    ...costs(running, entries, "Entry"),
    databaseMicrosecondsPerEntry: entries.microseconds("database"),
    readsPerSecond: reads.result.perSecond,
    ...costs(running, reads.result, "Read"),
    ...(!isAlone && {
      readsAtOwnerShare: reads.questions / total(reads.result.answered),
      readsAtOwnerShareWhileMoving: (whileMoving.questions - left) / total(movingReads.answered)
    })
  }
}

/** Returns the processor time of a request by role: that of the owner and of all fronts, or that of the only process. */
function costs({ nodes }: UsherNodes, requests: Requests, request: "Entry" | "Read"): Measured {
  const of = (isOwner: boolean) =>
    nodes
      .filter(({ role }) => (role === "front") !== isOwner)
      .reduce((sum, { name }) => sum + requests.microseconds(name), 0)
  return nodes.length === 1
    ? { [`serverMicrosecondsPer${request}`]: of(true) }
    : { [`ownerMicrosecondsPer${request}`]: of(true), [`frontMicrosecondsPer${request}`]: of(false) }
}

/** Enters those of the consumers that poll and leave who have not entered yet. */
const enterAll = (bench: Bench, served: Served, consumers: number): Promise<Requests> =>
  requestsThrough(served, (port, index) =>
    closedLoop({
      port,
      connections: 64,
      seconds: 60,
      request: enterRequest(bench.setup.fixture),
      tokens: bench.tokens.range(leaving + polling, index * consumers)
    })
  )

/** Consumers who wait poll through the port through which they have entered. */
async function poll(
  bench: Bench,
  served: Served,
  consumers: number,
  spans: { readonly warmup: number; readonly measured: number }
): Promise<Requests> {
  const requests = await requestsThrough(served, (_, index) =>
    closedLoop({
      ...watchedLoad(served, connections, spans, index),
      request: statusRequest(bench.setup.fixture),
      tokens: bench.tokens.range(polling, index * consumers + leaving),
      repeatTokens: true
    })
  )
  const other = requests.samples.find((sample) => !sample.includes('"status":"QUEUED"'))
  if (other !== undefined) throw new Error(`Not the status of a waiting consumer: ${other}`)
  return requests
}

/** The first consumers of the first port leave. Returns how many did. */
function leave(bench: Bench, { ports }: Served, seconds: number): Promise<number> {
  return withGenerator(async (generator) => {
    const outcome = await generator.run({
      mode: "open",
      host: "127.0.0.1",
      port: ports[0]!,
      connections: 8,
      warmupSeconds: 0,
      seconds,
      watched: [],
      request: leaveRequest(bench.setup.fixture),
      tokens: bench.tokens.range(leaving),
      perSecond: leavesPerSecond,
      seed: 1
    })
    return outcome.statuses["200"] ?? 0
  })
}

/** Counts the questions between nodes meanwhile. */
async function counting<A>(running: UsherNodes, use: () => Promise<A>) {
  const before = await running.remoteQuestions()
  const result = await use()
  return { result, questions: (await running.remoteQuestions()) - before }
}

const total = (counts: ReadonlyArray<number>): number => counts.reduce((sum, count) => sum + count, 0)
