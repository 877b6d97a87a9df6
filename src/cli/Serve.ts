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
      "DATABASE_URL or DATA_DIR, and others. Stops gracefully on SIGTERM or Ctrl-C, at once on a second one."
  ),
  Command.withExamples([
    { command: "usher serve", description: "With the embedded Postgres in .usher" },
    {
      command: "DATABASE_URL=postgres://usher:secret@db.example.com/usher HOST=0.0.0.0 usher serve",
      description: "With an external server, open to the network"
    }
  ])
)
