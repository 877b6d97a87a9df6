/** Runs Usher: `src/main.ts serve` on a copy of the template database. */
import { fileURLToPath } from "node:url"
import { createQueues } from "../CreateQueues.ts"
import { fillQueue } from "../FillQueue.ts"
import { heapBytes } from "../Heap.ts"
import { freePort, untilReady } from "../Processes.ts"
import { answersWell, type Ground, type Program, type Running, startServer } from "./Program.ts"

const database = "bench_usher"
export const mainScript = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A process whose heap can be looked at, and that says how long its start took. */
export interface Inspectable extends Running {
  /** All its queues, the fixture's first. */
  readonly queueIds: ReadonlyArray<string>
  heapBytes(): Promise<number>
  /** From the start of the process until it answered for the queue. */
  readonly secondsToFirstAnswer: number
  /** From the start of the process until `/ready` said so. */
  readonly secondsToReady: number
}

/** The settings of an Usher that is measured. */
export async function usherEnvironment(url: string): Promise<{ readonly [name: string]: string }> {
  return {
    DATABASE_URL: url,
    ADMIN_PORT: String(await freePort()),
    HOST: "127.0.0.1",
    LOG_LEVEL: "warn",
    REDIS_URL: ""
  }
}

/** Usher with its fixture's queue, and `queues` more of them. */
export function usher(ground: Ground, queues = 0): Program & { start(waiting: number): Promise<Inspectable> } {
  return {
    name: "usher",
    start: async (waiting) => {
      const { name: template, queueIds } = await templateFor(ground, waiting, queues)
      await ground.database.create(database, template)
      await ground.database.checkpoint()
      const inspectorPort = await freePort()
      const from = performance.now()
      // Asking for the queue waits for its actor; `/ready` only says once a second whether all are there.
      const { queueId, publishableKey } = ground.fixture
      const { port, server } = await startServer(ground, {
        name: "usher",
        script: mainScript,
        scriptArguments: ["serve"],
        nodeOptions: [`--inspect-port=127.0.0.1:${inspectorPort}`],
        environment: await usherEnvironment(ground.database.url(database)),
        portVariable: "CONSUMER_PORT",
        ready: { path: `/api/queues/${queueId}`, headers: { "x-publishable-key": publishableKey } }
      })
      const secondsToFirstAnswer = (performance.now() - from) / 1000
      await untilReady(server, () => answersWell(port, { path: "/ready" }))
      const secondsToReady = (performance.now() - from) / 1000
      return {
        port,
        processId: server.processId,
        queueIds,
        secondsToFirstAnswer,
        secondsToReady,
        heapBytes: () => heapBytes(server.processId, inspectorPort),
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...ground.database.watched],
        countEntries: async () => {
          const counted = "select count(*)::int4 as count from places where status = 'QUEUED'"
          const rows = await ground.database.query<{ count: number }>(database, counted)
          return rows[0]!.count
        },
        stop: async () => {
          await server.stop()
          await ground.database.drop(database)
        }
      }
    }
  }
}

interface Template {
  readonly name: string
  readonly queueIds: ReadonlyArray<string>
}

const made = new Map<string, Template>()

/** The database to copy: the fixture's, or one with more in it, made when it is first needed. */
async function templateFor(ground: Ground, waiting: number, queues: number): Promise<Template> {
  const { fixture, database: server } = ground
  if (waiting === 0 && queues === 0) return { name: fixture.templateDatabase, queueIds: [fixture.queueId] }
  const name = `bench_usher_${waiting}_${queues}`
  const known = made.get(name)
  if (known !== undefined) return known
  await server.create(name, fixture.templateDatabase)
  // Directly, not through a tap that may stand before the program's own database.
  await fillQueue(server.url(name), fixture.queueId, waiting)
  const others = await createQueues(server.url(name), fixture.queueId, queues)
  await server.query(name, "vacuum analyze")
  const template = { name, queueIds: [fixture.queueId, ...others] }
  made.set(name, template)
  return template
}
