/** Runs several nodes of Usher on one copy of a template database with many queues. */
import type { Watched } from "../load/Job.ts"
import { freePort, type Started, untilReady } from "../setup/Processes.ts"
import { answersWell, type Setup, startServer } from "./Program.ts"
import { countQueued, mainScript, templateFor, usherEnvironment } from "./Usher.ts"

const database = "bench_usher_nodes"

export interface UsherNode {
  readonly name: string
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
  countEntries(): Promise<number>
  stop(): Promise<void>
}

/** Starts `count` nodes. Without `clustered` it starts one process that has the database to itself. */
export async function startNodes(
  setup: Setup,
  options: { readonly count: number; readonly clustered: boolean; readonly queues: number }
): Promise<UsherNodes> {
  const { name: template, queueIds } = await templateFor(setup, 0, { queues: options.queues - 1 })
  await setup.database.create(database, template)
  await setup.database.checkpoint()
  const started: Array<UsherNode & { readonly server: Started; readonly adminPort: string }> = []
  for (let index = 0; index < options.count; index++) {
    const name = `node${index + 1}`
    const environment: { readonly [name: string]: string } = {
      ...(await usherEnvironment(setup.database.url(database))),
      NODE_NAME: name,
      ...(options.clustered ? { CLUSTER: "true", CLUSTER_PORT: String(await freePort()) } : {})
    }
    const { port, server } = await startServer(setup, {
      name,
      script: mainScript,
      scriptArguments: ["serve"],
      environment,
      portVariable: "CONSUMER_PORT",
      ready: { path: "/ready" }
    })
    started.push({ name, port, processId: server.processId, server, adminPort: environment["ADMIN_PORT"]! })
  }

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

  /** Shards move when a node joins. The measurement begins when each node owns a queue. */
  const isSpread = async () => new Set((await owners()).values()).size === options.count
  await untilReady(started[0]!.server, isSpread, 30)
  for (const { server, port } of started) await untilReady(server, () => answersWell(port, { path: "/ready" }))

  return {
    nodes: started.map(({ name, port, processId }) => ({ name, port, processId })),
    queueIds,
    owners,
    watched: [
      ...started.map(({ name, processId }) => ({ name, processId, withChildren: false })),
      ...setup.database.watched
    ],
    countEntries: () => countQueued(setup, database),
    stop: async () => {
      for (const { server } of started) await server.stop()
      await setup.database.drop(database)
    }
  }
}
