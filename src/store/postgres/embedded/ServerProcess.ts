/**
 * The embedded server as a process: seeing what is there, starting it, stopping it.
 *
 * The server is nobody's child in the sense that matters: it has a session of its own, so Ctrl-C in the terminal does not
 * reach it, and it outlives a killed Usher. Whoever comes next finds it by `postmaster.pid`, the file in which Postgres
 * itself says who serves the folder. That file is also the lock between two processes that start a server at once:
 * one of the servers sees that it is second and ends.
 */
import { Effect, FileSystem, Option, Schedule } from "effect"
import { spawn } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { createServer } from "node:net"
import { platform } from "node:os"
import { StartRefused } from "../../../settings/Settings.ts"
import type { Binaries } from "./Binaries.ts"
import { commandFor, runAs, type ServerAccount } from "./ServerAccount.ts"
import type { ServerFolder } from "./ServerFolder.ts"

/** What serves the folder at this moment. */
export type Observation =
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Changing"; readonly pid: number }
  | { readonly _tag: "Ready"; readonly pid: number; readonly port: number }

/**
 * What the server runs with, beside its own defaults. Sized for a machine of 2 cores and a few GiB that it shares with
 * Usher; whoever needs more runs a server of their own.
 */
const parameters = {
  // Reached over loopback alone.
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  // What is committed is on disk. These are the defaults, written down because everything rests on them.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  // Enough to hold the heads and places of live mechanisms; the rest is the operating system's cache.
  shared_buffers: "256MB",
  // Checkpoints are far apart, because the first change of a page after each costs a full page of log.
  checkpoint_timeout: "15min",
  max_wal_size: "4GB",
  // Statements are short: compiling one takes longer than running it.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  // The log has no other bound than being quiet. Failing statements are logged by Usher, which sent them.
  log_min_messages: "fatal",
  log_checkpoints: "off"
}

/** Looks at `postmaster.pid`, and whether the process it names lives and really serves this folder. */
export const observe = Effect.fnUntraced(function* (folder: ServerFolder) {
  const fileSystem = yield* FileSystem.FileSystem
  const lines = (yield* fileSystem.readFileString(folder.pid).pipe(Effect.orElseSucceed(() => ""))).split("\n")
  const pid = Number(lines[0])
  const observation = (found: Observation) => found
  if (!(pid > 0) || !(yield* isAlive(pid))) return observation({ _tag: "Stopped" })
  if (!(yield* serves(pid, folder))) {
    // The number has been given to another process since, as after a restart of a container. Postgres could not tell
    // and would refuse to start.
    yield* fileSystem.remove(folder.pid, { force: true })
    return observation({ _tag: "Stopped" })
  }
  const port = Number(lines[3])
  const ready = lines[7]?.trim() === "ready" && port > 0
  return observation(ready ? { _tag: "Ready", pid, port } : { _tag: "Changing", pid })
})

/** What it takes to start a server. */
export interface Startable {
  readonly folder: ServerFolder
  readonly binaries: Binaries
  readonly account: ServerAccount
}

/** How often a server that ends at once is started before its log is shown to the user; some 3 seconds. */
const startAttemptsMax = 5

/** The port of a server that is ready: the one that is there, or one that is started. */
export const ready = Effect.fnUntraced(function* (server: Startable) {
  let busyPort: number | undefined
  let log = ""
  let attempt = 0
  while (attempt < startAttemptsMax) {
    const found = yield* observe(server.folder)
    if (found._tag === "Ready") return found.port
    if (found._tag === "Changing") {
      // It is starting, recovering or stopping, all of which end by themselves.
      yield* Effect.sleep("5 millis")
      continue
    }
    const port = yield* choosePort(server.folder, busyPort)
    log = yield* start(server, port)
    if (log.includes("could not bind")) busyPort = port
    attempt++
    // Backends of a killed server may need a moment to notice that it is gone.
    if (attempt > 1) yield* Effect.sleep(attempt * 200)
  }
  return yield* new StartRefused({
    message: `The embedded Postgres in ${server.folder.root} does not start. Its log says:\n${log.slice(-2_000)}`
  })
})

/**
 * Starts a server on the folder, which has none, and waits until it is ready or has ended; which of the two, and whether
 * it was this one or another's that became ready, the next `observe` tells. Answers what it logged if it ended.
 */
const start = Effect.fnUntraced(function* ({ folder, binaries, account }: Startable, port: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const logged = yield* fileSystem.stat(folder.log).pipe(
    Effect.map((info) => Number(info.size)),
    Effect.orElseSucceed(() => 0)
  )
  const settings = Object.entries({ ...parameters, port: `${port}` }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`
  ])
  const { command, args, options } = commandFor(account, binaries.postgres, ["-D", folder.data, ...settings])

  const ended = Effect.callback<void>((resume) => {
    const log = openSync(folder.log, logged > logSizeMax ? "w" : "a", 0o600)
    const child = spawn(command, args, { ...options, detached: true, stdio: ["ignore", log, log] })
    closeSync(log)
    child.once("exit", () => resume(Effect.void))
    child.once("error", () => resume(Effect.void))
    child.unref()
  })
  const becameReady = observe(folder).pipe(
    Effect.repeat({ until: (found) => found._tag === "Ready", schedule: Schedule.spaced("5 millis") })
  )
  yield* Effect.raceFirst(ended, becameReady)

  const log = yield* fileSystem.readFileString(folder.log).pipe(Effect.orElseSucceed(() => ""))
  return log.slice(log.length < logged ? 0 : logged).trim()
})

/**
 * Stops the server: connections are ended, a checkpoint is written, and the processes are gone when it returns. A server
 * that takes longer than 15 seconds is ended without the checkpoint; it recovers from its log at the next start.
 */
export const stop = Effect.fnUntraced(function* (folder: ServerFolder) {
  const found = yield* observe(folder)
  if (found._tag === "Stopped") return
  const gone = observe(folder).pipe(
    Effect.repeat({
      until: (now) => now._tag === "Stopped" || now.pid !== found.pid,
      schedule: Schedule.spaced("5 millis")
    }),
    Effect.asVoid
  )
  yield* signal(found.pid, "SIGINT")
  yield* gone.pipe(
    Effect.timeoutOrElse({
      duration: "15 seconds",
      orElse: () =>
        Effect.logWarning("The embedded Postgres does not stop; ending it without a checkpoint").pipe(
          Effect.andThen(signal(found.pid, "SIGQUIT")),
          Effect.andThen(Effect.timeoutOption(gone, "5 seconds"))
        )
    })
  )
})

/** The port the server had last if it is free, else any free one; written down for the next start. */
const choosePort = Effect.fnUntraced(function* (folder: ServerFolder, avoid: number | undefined) {
  const fileSystem = yield* FileSystem.FileSystem
  const last = Number(yield* fileSystem.readFileString(folder.port).pipe(Effect.orElseSucceed(() => "")))
  if (last > 0 && last !== avoid && (yield* freePort(last)) === last) return last
  const port = yield* freePort(0)
  if (port === undefined) {
    return yield* new StartRefused({
      message: "127.0.0.1 has no free TCP port for the embedded Postgres. Set DATABASE_URL."
    })
  }
  yield* fileSystem.writeFileString(folder.port, `${port}\n`, { mode: 0o600 })
  return port
})

/** A log larger than this is begun anew at the next start. Bytes. */
const logSizeMax = 4 * 1_048_576

/** The port itself if nobody listens on it, or any free one for 0; undefined if it is taken. */
const freePort = (port: number) =>
  Effect.callback<number | undefined>((resume) => {
    const server = createServer()
    server.once("error", () => resume(Effect.succeed(undefined)))
    server.listen(port, "127.0.0.1", () => {
      const address = server.address()
      const found = typeof address === "object" && address !== null ? address.port : undefined
      server.close(() => resume(Effect.succeed(found)))
    })
  })

const signal = (pid: number, name: NodeJS.Signals | 0) =>
  Effect.try({ try: () => process.kill(pid, name), catch: (error) => error as NodeJS.ErrnoException }).pipe(
    Effect.match({ onSuccess: () => "sent" as const, onFailure: (error) => error.code ?? "failed" })
  )

const isAlive = (pid: number) => Effect.map(signal(pid, 0), (outcome) => outcome === "sent" || outcome === "EPERM")

/** Whether a process is a Postgres server of this folder: a server's working directory is its cluster. */
const serves = Effect.fnUntraced(function* (pid: number, folder: ServerFolder) {
  const fileSystem = yield* FileSystem.FileSystem
  const data = yield* fileSystem.realPath(folder.data)
  if (platform() === "linux") {
    const workingDirectory = yield* fileSystem.readLink(`/proc/${pid}/cwd`).pipe(Effect.option)
    return Option.contains(workingDirectory, data)
  }
  const command = yield* runAs({ _tag: "Own" }, "ps", ["-o", "command=", "-p", `${pid}`])
  return command.output.includes(folder.data) || command.output.includes(data)
})
