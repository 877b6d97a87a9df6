/** Runs several nodes of Usher on one copy of a template database. */
import type { Watched } from "../load/Job.ts"
import { freePort, type Started, untilReady } from "../setup/Processes.ts"
import { answersWell, type Setup, startServer } from "./Program.ts"
import { countQueued, mainScript, templateFor, usherEnvironment } from "./Usher.ts"

const database = "bench_usher_nodes"

/** A node's role in the cluster. `alone` is one process without clustering. */
export type Role = "alone" | "all" | "engine" | "front"

export interface UsherNode {
  readonly name: string
  readonly role: Role
  /** The port of the Consumer API. An engine has none. */
  readonly port: number
  readonly processId: number
}

export interface UsherNodes {
  readonly nodes: ReadonlyArray<UsherNode>
  readonly queueIds: ReadonlyArray<string>
  /** All nodes, by name, and the database. */
  readonly watched: ReadonlyArray<Watched>
  /** Returns the node that owns each queue, by queue. */
  owners(): Promise<ReadonlyMap<string, string>>
  /** Returns how many questions the nodes have sent to each other. */
  remoteQuestions(): Promise<number>
  countEntries(): Promise<number>
  stop(): Promise<void>
}

interface StartedNode extends UsherNode {
  readonly server: Started
  readonly adminPort: number
  readonly operationsPort: number
}

/** Starts the nodes in order, each when the one before is ready. */
export async function startNodes(
  setup: Setup,
  options: { readonly roles: ReadonlyArray<Role>; readonly queues: number }
): Promise<UsherNodes> {
  const { name: template, queueIds } = await templateFor(setup, 0, { queues: options.queues - 1 })
  await setup.database.create(database, template)
  await setup.database.checkpoint()
  const started: Array<StartedNode> = []
  for (const role of options.roles) started.push(await startNode(setup, `node${started.length + 1}`, role))

  const owners = async (): Promise<ReadonlyMap<string, string>> => {
    const headers = { authorization: `Bearer ${setup.fixture.secretKey}` }
    const found = new Map<string, string>()
    for (const id of queueIds) {
      const answer = await fetch(`http://127.0.0.1:${started[0]!.adminPort}/api/distributions/${id}`, { headers })
      const { live } = (await answer.json()) as { readonly live: { readonly node: string } | null }
      if (live !== null) found.set(id, live.node)
    }
    return found
  }

  /** Shards move when a node joins. The measurement begins when each node that may own a queue does. */
  const mayOwn = options.roles.filter((role) => role !== "front").length
  const isSpread = async () => new Set((await owners()).values()).size === mayOwn
  await untilReady(started[0]!.server, isSpread, 30)
  for (const { server, adminPort } of started) {
    await untilReady(server, () => answersWell(adminPort, { path: "/ready" }))
  }

  return {
    nodes: started.map(({ name, role, port, processId }) => ({ name, role, port, processId })),
    queueIds,
    owners,
    remoteQuestions: async () => {
      const counts = await Promise.all(started.map(({ operationsPort }) => remoteQuestionsOf(operationsPort)))
      return counts.reduce((total, count) => total + count, 0)
    },
    watched: [
      ...started.map(({ name, processId }) => ({ name, processId, withChildren: false })),
      ...setup.database.watched
    ],
    countEntries: () => countQueued(setup, database),
    stop: async () => {
      for (const { server } of started.toReversed()) await server.stop()
      await setup.database.drop(database)
    }
  }
}

/** Starts a node and waits until its Admin API, the last to listen, says that it is ready. */
async function startNode(setup: Setup, name: string, role: Role): Promise<StartedNode> {
  const [consumerPort, operationsPort] = [await freePort(), await freePort()]
  const environment: { readonly [name: string]: string } = {
    ...(await usherEnvironment(setup.database.url(database))),
    NODE_NAME: name,
    CONSUMER_PORT: String(consumerPort),
    OPERATIONS_PORT: String(operationsPort),
    ...(role !== "alone" && { CLUSTER: "true", CLUSTER_ROLE: role, CLUSTER_PORT: String(await freePort()) })
  }
  const { port: adminPort, server } = await startServer(setup, {
    name,
    script: mainScript,
    scriptArguments: ["serve"],
    environment,
    portVariable: "ADMIN_PORT",
    ready: { path: "/ready" }
  })
  return { name, role, port: consumerPort, processId: server.processId, server, adminPort, operationsPort }
}

/** Reads a node's count of questions to other nodes, whatever became of them. */
async function remoteQuestionsOf(operationsPort: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${operationsPort}/metrics`)
  const counts = [...(await answer.text()).matchAll(/^usher_cluster_remote_questions_total\{[^}]*\} (\d+)/gm)]
  if (counts.length === 0) throw new Error("A node does not count its questions to other nodes")
  return counts.reduce((total, [, count]) => total + Number(count), 0)
}
