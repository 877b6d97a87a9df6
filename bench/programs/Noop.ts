/** Runs the peer `noop`, Usher's own transport with a stub engine, and `noop-open`, the same without credentials. */
import { fileURLToPath } from "node:url"
import { type Ground, type Program, startServer } from "./Program.ts"
import { usherEnvironment } from "./Usher.ts"

const database = "bench_noop"

export const noop = (ground: Ground): Program => programOf(ground, "noop", [])
export const noopOpen = (ground: Ground): Program => programOf(ground, "noop-open", ["--open"])

function programOf(ground: Ground, name: Program["name"], scriptArguments: ReadonlyArray<string>): Program {
  return {
    name,
    start: async () => {
      await ground.database.create(database, ground.fixture.templateDatabase)
      await ground.database.checkpoint()
      const { port, server } = await startServer(ground, {
        name,
        script: fileURLToPath(new URL("../peers/noop.ts", import.meta.url)),
        scriptArguments,
        environment: await usherEnvironment(ground.database.url(database), ground.fixture.certificate),
        portVariable: "CONSUMER_PORT",
        ready: { path: "/ready" }
      })
      return {
        port,
        processId: server.processId,
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...ground.database.watched],
        countEntries: () => Promise.resolve(undefined),
        stop: async () => {
          await server.stop()
          await ground.database.drop(database)
        }
      }
    }
  }
}
