/** `usher serve`. The server itself is in `runtime/ServerProcess.ts`. */
import { Command } from "effect/cli"
import { withModule } from "./runtime/LazyModule.ts"

/** The command `serve`. */
export const command = Command.make("serve", {}, () =>
  withModule(
    () => import("./runtime/ServerProcess.ts"),
    ({ serve }) => serve
  )
).pipe(
  Command.withDescription(
    "Serve the Consumer API and the Admin API. Settings are environment variables: CONSUMER_PORT, ADMIN_PORT, HOST, " +
      "DATABASE_URL or DATA_DIR, and others. SIGTERM or Ctrl-C stops it gracefully; a second one stops it at once."
  ),
  Command.withExamples([
    { command: "usher serve", description: "With the embedded Postgres in .usher" },
    {
      command: "DATABASE_URL=postgres://usher:secret@db.example.com/usher HOST=0.0.0.0 usher serve",
      description: "With an external server, open to the network"
    }
  ])
)
