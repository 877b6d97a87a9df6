/**
 * `usher serve`. The server itself is in `runtime/ServerProcess.ts`, and what starts several of them in
 * `runtime/Supervisor.ts`.
 */
import { Option } from "effect"
import { Command, Flag } from "effect/cli"
import { availableParallelism } from "node:os"
import { withModule } from "./runtime/LazyModule.ts"

/** Processes of one machine at most. */
const processesMax = 256

const processesFlag = Flag.String("processes").pipe(
  Flag.withDescription(
    "How many processes serve on this machine: one engine, which owns the queues and other mechanisms, and fronts for all " +
      "others. `auto` is one less than the machine's cores"
  ),
  Flag.filterMap(
    (text) => Option.fromUndefinedOr(processesOf(text, availableParallelism())),
    (text) => `auto, or a whole number from 1 to ${processesMax}, but it is ${JSON.stringify(text)}`
  ),
  Flag.withDefault(1)
)

/** Returns the number of processes, undefined if the text is none. */
export const processesOf = (text: string, cores: number): number | undefined => {
  if (text === "auto") return Math.min(Math.max(cores - 1, 1), processesMax)
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  return count >= 1 && count <= processesMax ? count : undefined
}

/** The command `serve`. */
export const command = Command.make("serve", { processes: processesFlag }, ({ processes }) =>
  processes === 1
    ? withModule(
        () => import("./runtime/ServerProcess.ts"),
        ({ serve }) => serve
      )
    : withModule(
        () => import("./runtime/Supervisor.ts"),
        ({ supervise }) => supervise(processes)
      )
).pipe(
  Command.withDescription(
    "Serve the Consumer API and the Admin API. Settings are environment variables: CONSUMER_PORT, ADMIN_PORT, HOST, " +
      "DATABASE_URL or DATA_DIR, and others. SIGTERM or Ctrl-C stops it gracefully; a second one stops it at once."
  ),
  Command.withExamples([
    { command: "usher serve", description: "With the embedded Postgres in .usher" },
    { command: "usher serve --processes 4", description: "One engine and three fronts on the same ports" },
    {
      command: "DATABASE_URL=postgres://usher:secret@db.example.com/usher HOST=0.0.0.0 usher serve",
      description: "With an external server, open to the network"
    }
  ])
)
