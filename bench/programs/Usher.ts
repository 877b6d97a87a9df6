/** Runs Usher: `src/main.ts serve` on a copy of the template database. */
import { fileURLToPath } from "node:url"
import { type Certificate, certificateEnvironment } from "../setup/Certificate.ts"
import { createDraw } from "../setup/CreateDraw.ts"
import { createQueues } from "../setup/CreateQueues.ts"
import { fill } from "../setup/Fill.ts"
import { heapBytes, type Held, watchEventLoop } from "../setup/Inspector.ts"
import { freePort, untilReady } from "../setup/Processes.ts"
import { answersWell, type Setup, type Program, type Running, startServer } from "./Program.ts"

const database = "bench_usher"

/** Counts the waiting consumers in the places, once these are written up to the last event of each journal. */
export async function countQueued(setup: Setup, name: string): Promise<number> {
  const behind = `select count(*)::int4 as number from mechanism_heads h join place_projections p using (mechanism_id)
    where p.sequence < h.sequence`
  while ((await setup.database.number(name, behind)) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
  return setup.database.number(name, "select count(*)::int4 as number from places where status = 'QUEUED'")
}

export const mainScript = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A running Usher with its start times, its heap and its event loop. */
export interface Inspectable extends Running {
  /** Returns the number of journal events of a type that a mechanism has. */
  countEvents(mechanismId: string, type: string): Promise<number>
  /** The ids of all its queues, the fixture's first. */
  readonly queueIds: ReadonlyArray<string>
  /** The id of the draw, if there is one. */
  readonly drawId: string | undefined
  /** Returns the number of the draw's last event. */
  drawSequence(): Promise<number>
  readonly adminUrl: string
  heapBytes(): Promise<number>
  /** Watches the event loop; the returned function ends the watch. */
  watchEventLoop(): Promise<() => Promise<Held>>
  /** Seconds from the start of the process to its first response for the queue. */
  readonly secondsToFirstAnswer: number
  /** Seconds from the start of the process until `/ready` succeeded. */
  readonly secondsToReady: number
}

/** The settings of a measured Usher. */
export async function usherEnvironment(
  url: string,
  certificate?: Certificate
): Promise<{ readonly [name: string]: string }> {
  return {
    DATABASE_URL: url,
    ADMIN_PORT: String(await freePort()),
    HOST: "127.0.0.1",
    LOG_LEVEL: "warn",
    REDIS_URL: "",
    // All load comes from one address.
    CONNECTIONS_PER_ADDRESS: "25000",
    STREAMS_PER_ADDRESS: "20000",
    ...certificateEnvironment(certificate)
  }
}

/** The mechanisms besides the fixture's queue. */
export interface MoreMechanisms {
  /** The number of additional queues. */
  readonly queues?: number
  /** The number of entries in a draw. One in a hundred wins; the drawing is on a later day. */
  readonly drawEntries?: number
}

/** Usher with its fixture's queue, the additional mechanisms and settings. */
export function usher(
  setup: Setup,
  more: MoreMechanisms = {},
  settings: { readonly [name: string]: string } = {}
): Program & { start(waiting: number): Promise<Inspectable> } {
  return {
    name: "usher",
    start: async (waiting) => {
      const { name: template, queueIds, drawId } = await templateFor(setup, waiting, more)
      await setup.database.create(database, template)
      await setup.database.checkpoint()
      const inspectorPort = await freePort()
      const from = performance.now()
      // A request for the queue waits for its actor, while `/ready` checks all actors only once per second.
      const { queueId, publishableKey, certificate } = setup.fixture
      const environment: { readonly [name: string]: string } = {
        ...(await usherEnvironment(setup.database.url(database), certificate)),
        ...settings
      }
      const { port, server } = await startServer(setup, {
        name: "usher",
        script: mainScript,
        scriptArguments: ["serve"],
        nodeOptions: [`--inspect-port=127.0.0.1:${inspectorPort}`],
        environment,
        portVariable: "CONSUMER_PORT",
        ready: { path: `/api/queues/${queueId}`, headers: { "x-publishable-key": publishableKey } }
      })
      const secondsToFirstAnswer = (performance.now() - from) / 1000
      await untilReady(server, () => answersWell(port, { path: "/ready" }, certificate !== undefined))
      const secondsToReady = (performance.now() - from) / 1000
      return {
        port,
        processId: server.processId,
        queueIds,
        drawId,
        countEvents: (mechanismId, type) => {
          const counted = "select count(*)::int4 as number from journal where mechanism_id = $1 and type = $2"
          return setup.database.number(database, counted, [mechanismId, type])
        },
        drawSequence: () => {
          const sequence = "select sequence::int4 as number from mechanism_heads where mechanism_id = $1"
          return setup.database.number(database, sequence, [drawId])
        },
        adminUrl: `http://127.0.0.1:${environment["ADMIN_PORT"]}`,
        secondsToFirstAnswer,
        secondsToReady,
        heapBytes: () => heapBytes(server.processId, inspectorPort),
        watchEventLoop: () => watchEventLoop(server.processId, inspectorPort),
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...setup.database.watched],
        countEntries: () => countQueued(setup, database),
        stop: async () => {
          await server.stop()
          await setup.database.drop(database)
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

/** Returns the database to copy: the fixture's, or a filled one, which the first call creates. */
export async function templateFor(setup: Setup, waiting: number, more: MoreMechanisms): Promise<Template> {
  const { fixture, database: server } = setup
  const { queues = 0, drawEntries = 0 } = more
  if (waiting + queues + drawEntries === 0) {
    return { name: fixture.templateDatabase, queueIds: [fixture.queueId], drawId: undefined }
  }
  const name = `bench_usher_${waiting}_${queues}_${drawEntries}`
  const known = made.get(name)
  if (known !== undefined) return known
  await server.create(name, fixture.templateDatabase)
  // A direct connection, because a tap may be in front of the program's own database.
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
