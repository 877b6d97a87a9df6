/** Runs the peer `noop`: Usher's own transport before an engine that answers from nothing. */
import { fileURLToPath } from "node:url"
import { type Ground, type Program, startServer } from "./Program.ts"
import { usherEnvironment } from "./Usher.ts"

const database = "bench_noop"

export function noop(ground: Ground): Program {
  return {
    name: "noop",
    start: async () => {
      await ground.database.create(database, ground.fixture.templateDatabase)
      await ground.database.checkpoint()
      const { port, server } = await startServer(ground, {
        name: "noop",
        script: fileURLToPath(new URL("../peers/noop.ts", import.meta.url)),
        environment: await usherEnvironment(ground.database.url(database)),
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
