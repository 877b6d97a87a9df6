/** Runs Usher: `src/main.ts serve` on a copy of the template database. */
import { fileURLToPath } from "node:url"
import { createDraw } from "../setup/CreateDraw.ts"
import { createQueues } from "../setup/CreateQueues.ts"
import { fill } from "../setup/Fill.ts"
import { heapBytes, type Held, watchEventLoop } from "../setup/Inspector.ts"
import { freePort, untilReady } from "../setup/Processes.ts"
import { answersWell, type Ground, type Program, type Running, startServer } from "./Program.ts"

const database = "bench_usher"
export const mainScript = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A process whose heap can be looked at, and that says how long its start took. */
export interface Inspectable extends Running {
  /** How many events of a type a mechanism has on record. */
  countEvents(mechanismId: string, type: string): Promise<number>
  /** All its queues, the fixture's first. */
  readonly queueIds: ReadonlyArray<string>
  /** The draw, if there is one, and the sequence of its last event. */
  readonly drawId: string | undefined
  drawSequence(): Promise<number>
  readonly adminUrl: string
  heapBytes(): Promise<number>
  /** Watches the event loop; the answer ends that. */
  watchEventLoop(): Promise<() => Promise<Held>>
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

/** What there is beside the fixture's queue. */
export interface Beside {
  /** So many more queues. */
  readonly queues?: number
  /** A draw with so many entries, of which one in a hundred is to win, and which is drawn some other day. */
  readonly drawEntries?: number
}

/** Usher with its fixture's queue, and what is beside it. */
export function usher(ground: Ground, beside: Beside = {}): Program & { start(waiting: number): Promise<Inspectable> } {
  return {
    name: "usher",
    start: async (waiting) => {
      const { name: template, queueIds, drawId } = await templateFor(ground, waiting, beside)
      await ground.database.create(database, template)
      await ground.database.checkpoint()
      const inspectorPort = await freePort()
      const from = performance.now()
      // Asking for the queue waits for its actor; `/ready` only says once a second whether all are there.
      const { queueId, publishableKey } = ground.fixture
      const environment = await usherEnvironment(ground.database.url(database))
      const { port, server } = await startServer(ground, {
        name: "usher",
        script: mainScript,
        scriptArguments: ["serve"],
        nodeOptions: [`--inspect-port=127.0.0.1:${inspectorPort}`],
        environment,
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
        drawId,
        countEvents: async (mechanismId, type) => {
          const counted = "select count(*)::int4 as count from journal where mechanism_id = $1 and type = $2"
          const rows = await ground.database.query<{ count: number }>(database, counted, [mechanismId, type])
          return rows[0]!.count
        },
        drawSequence: async () => {
          const sequence = "select sequence::int4 from mechanism_heads where mechanism_id = $1"
          const rows = await ground.database.query<{ sequence: number }>(database, sequence, [drawId])
          return rows[0]!.sequence
        },
        adminUrl: `http://127.0.0.1:${environment["ADMIN_PORT"]}`,
        secondsToFirstAnswer,
        secondsToReady,
        heapBytes: () => heapBytes(server.processId, inspectorPort),
        watchEventLoop: () => watchEventLoop(server.processId, inspectorPort),
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
  readonly drawId: string | undefined
}

const made = new Map<string, Template>()

/** The database to copy: the fixture's, or one with more in it, made when it is first needed. */
export async function templateFor(ground: Ground, waiting: number, beside: Beside): Promise<Template> {
  const { fixture, database: server } = ground
  const { queues = 0, drawEntries = 0 } = beside
  if (waiting + queues + drawEntries === 0) {
    return { name: fixture.templateDatabase, queueIds: [fixture.queueId], drawId: undefined }
  }
  const name = `bench_usher_${waiting}_${queues}_${drawEntries}`
  const known = made.get(name)
  if (known !== undefined) return known
  await server.create(name, fixture.templateDatabase)
  // Directly, not through a tap that may stand before the program's own database.
  const url = server.url(name)
  await fill(url, "queue", fixture.queueId, waiting)
  const others = await createQueues(url, fixture.queueId, queues)
  const drawId = drawEntries === 0 ? undefined : await createDraw(url, fixture.queueId, Math.ceil(drawEntries / 100))
  if (drawId !== undefined) await fill(url, "draw", drawId, drawEntries)
  await server.query(name, "vacuum analyze")
  const template = { name, queueIds: [fixture.queueId, ...others], drawId }
  made.set(name, template)
  return template
}
