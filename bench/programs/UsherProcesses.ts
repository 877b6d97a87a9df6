/** Runs `usher serve --processes N` on a copy of the template database. */
import { readChildren } from "../load/Processor.ts"
import type { Watched } from "../load/Job.ts"
import { untilReady } from "../setup/Processes.ts"
import { answersWell, type Setup, startServer } from "./Program.ts"
import { countQueued, mainScript, usherEnvironment } from "./Usher.ts"

const database = "bench_usher_processes"

export interface UsherProcesses {
  readonly port: number
  /** The supervisor, `engine`, `front-1` and so on, or `server` if there is only one process. */
  readonly names: ReadonlyArray<string>
  /** These processes and the database. */
  readonly watched: ReadonlyArray<Watched>
  countEntries(): Promise<number>
  stop(): Promise<void>
}

export async function startProcesses(setup: Setup, count: number): Promise<UsherProcesses> {
  await setup.database.create(database, setup.fixture.templateDatabase)
  await setup.database.checkpoint()
  const environment = await usherEnvironment(setup.database.url(database))
  const { port, server } = await startServer(setup, {
    name: "processes",
    script: mainScript,
    scriptArguments: ["serve", "--processes", String(count)],
    environment,
    portVariable: "CONSUMER_PORT",
    ready: { path: "/ready" }
  })
  // Any of the processes answers, and is ready only when all are.
  await untilReady(server, () => answersWell(Number(environment["ADMIN_PORT"]), { path: "/ready" }))
  const processes: ReadonlyArray<Watched> =
    count === 1
      ? [{ name: "server", processId: server.processId, withChildren: false }]
      : [{ name: "supervisor", processId: server.processId, withChildren: false }, ...membersOf(server.processId)]
  if (processes.length !== (count === 1 ? 1 : count + 1)) {
    throw new Error(`The supervisor has ${processes.length - 1} processes instead of ${count}`)
  }
  return {
    port,
    names: processes.map(({ name }) => name),
    watched: [...processes, ...setup.database.watched],
    countEntries: () => countQueued(setup, database),
    stop: async () => {
      await server.stop()
      await setup.database.drop(database)
    }
  }
}

/** Returns the processes of a supervisor, by the role that ends their node's name. */
function membersOf(supervisor: number): ReadonlyArray<Watched> {
  return readChildren(supervisor).flatMap(({ processId, environment }) => {
    const [, name] = /\0NODE_NAME=[^\0]*-(engine|front-\d+)\0/.exec(`\0${environment}\0`) ?? []
    return name === undefined ? [] : [{ name, processId, withChildren: false }]
  })
}
