/** Runs the peer `noop`, Usher's own transport with a stub engine, and `noop-open`, the same without credentials. */
import { fileURLToPath } from "node:url"
import { type Setup, type Program, startServer } from "./Program.ts"
import { usherEnvironment } from "./Usher.ts"

const database = "bench_noop"

export const noop = (setup: Setup): Program => programOf(setup, "noop", [])
export const noopOpen = (setup: Setup): Program => programOf(setup, "noop-open", ["--open"])

function programOf(setup: Setup, name: Program["name"], scriptArguments: ReadonlyArray<string>): Program {
  return {
    name,
    start: async () => {
      await setup.database.create(database, setup.fixture.templateDatabase)
      await setup.database.checkpoint()
      const { port, server } = await startServer(setup, {
        name,
        script: fileURLToPath(new URL("../peers/noop.ts", import.meta.url)),
        scriptArguments,
        environment: await usherEnvironment(setup.database.url(database), setup.fixture.certificate),
        portVariable: "CONSUMER_PORT",
        ready: { path: "/ready" }
      })
      return {
        port,
        processId: server.processId,
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...setup.database.watched],
        countEntries: () => Promise.resolve(undefined),
        stop: async () => {
          await server.stop()
          await setup.database.drop(database)
        }
      }
    }
  }
}
