/**
 * The embedded server as a process: observes, starts and stops it.
 *
 * The server has its own session, so Ctrl-C in the terminal does not reach it, and it outlives a killed Usher. The
 * next process finds it by `postmaster.pid`, where Postgres records which process serves the folder. That file is
 * also the lock between two processes that start a server at once: the second server notices the first and ends.
 */
import { Effect, FileSystem, Option, Schedule } from "effect"
import { spawn } from "node:child_process"
import { closeSync } from "node:fs"
import { createServer } from "node:net"
import { platform } from "node:os"
import { StartRefused } from "../../../settings/Settings.ts"
import type { Binaries } from "./Binaries.ts"
import { commandFor, runAs, type ServerAccount } from "./ServerAccount.ts"
import { openLog, readOwn, writeOwn } from "./OwnFiles.ts"
import type { ServerFolder } from "./ServerFolder.ts"

/** The current state of the folder's server. */
export type Observation =
  | { readonly _tag: "Stopped" }
  | { readonly _tag: "Changing"; readonly pid: number }
  | { readonly _tag: "Ready"; readonly pid: number; readonly port: number }

/** Connections that the embedded server takes in all. */
export const connectionsMax = 200

/**
 * The server's parameters that differ from its defaults. They suit a machine of 2 cores and a few GiB that the server
 * shares with Usher. Larger installations run an external server.
 */
const parameters = {
  // Reachable over loopback only.
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: `${connectionsMax}`,
  // Committed data is on disk. These are the defaults, repeated because durability depends on them.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  // Enough for the heads and places of live mechanisms. The operating system's cache holds the rest.
  shared_buffers: "256MB",
  // Checkpoints are rare, because the first change of a page after each one writes a full page to the log.
  checkpoint_timeout: "15min",
  max_wal_size: "4GB",
  // Statements are short: compiling one takes longer than running it.
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  // Only a high log level limits the size of the log. Usher sends the statements, and logs those that fail.
  log_min_messages: "fatal",
  log_checkpoints: "off"
}

/** Reads `postmaster.pid`, and checks that the process it names lives and serves this folder. */
export const observe = Effect.fnUntraced(function* (folder: ServerFolder) {
  const fileSystem = yield* FileSystem.FileSystem
  const lines = (yield* readOwn(folder.pid)).split("\n")
  const pid = Number(lines[0])
  const observation = (found: Observation) => found
  if (!(pid > 0) || !(yield* isAlive(pid))) return observation({ _tag: "Stopped" })
  if (!(yield* serves(pid, folder))) {
    // Another process has the number now, as after a restart of a container. Postgres could not see the difference
    // and would refuse to start.
    yield* fileSystem.remove(folder.pid, { force: true })
    return observation({ _tag: "Stopped" })
  }
  const port = Number(lines[3])
  const ready = lines[7]?.trim() === "ready" && port > 0
  return observation(ready ? { _tag: "Ready", pid, port } : { _tag: "Changing", pid })
})

/** The inputs for starting a server. */
export interface Startable {
  readonly folder: ServerFolder
  readonly binaries: Binaries
  readonly account: ServerAccount
  /** Parameters that replace `parameters`. The server of a test run, which is thrown away, does without durability. */
  readonly overrides?: { readonly [name: string]: string }
}

/** How often a server that ends immediately is started before its log is shown to the user; some 3 seconds. */
const startAttemptsMax = 5

/** Returns the port of a ready server. Starts one if none runs. */
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
    // Backends of a killed server may need a moment to notice its end.
    if (attempt > 1) yield* Effect.sleep(attempt * 200)
  }
  return yield* new StartRefused({
    message: `The embedded Postgres in ${server.folder.root} does not start. Its log says:\n${log.slice(-2_000)}`
  })
})

/**
 * Starts a server on the folder, which has none, and waits until it is ready or has ended. The next `observe` shows
 * which of the two happened, and whether this server or another became ready. Returns the log of a server that ended.
 */
const start = Effect.fnUntraced(function* ({ folder, binaries, account, overrides }: Startable, port: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const logged = yield* fileSystem.stat(folder.log).pipe(
    Effect.map((info) => Number(info.size)),
    Effect.orElseSucceed(() => 0)
  )
  const settings = Object.entries({ ...parameters, ...overrides, port: `${port}` }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`
  ])
  const { command, args, options } = commandFor(account, binaries.postgres, ["-D", folder.data, ...settings])

  const output = yield* openLog(folder.log, logged > logSizeMax)
  const ended = Effect.callback<void>((resume) => {
    const child = spawn(command, args, { ...options, detached: true, stdio: ["ignore", output, output] })
    closeSync(output)
    child.once("exit", () => resume(Effect.void))
    child.once("error", () => resume(Effect.void))
    child.unref()
  })
  const becameReady = observe(folder).pipe(
    Effect.repeat({ until: (found) => found._tag === "Ready", schedule: Schedule.spaced("5 millis") })
  )
  yield* Effect.raceFirst(ended, becameReady)

  const log = yield* readOwn(folder.log)
  return log.slice(log.length < logged ? 0 : logged).trim()
})

/**
 * Stops the server: ends connections, writes a checkpoint, and returns when its processes are gone. After 15 seconds
 * the server is ended without the checkpoint; it recovers from its log at the next start.
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

/** Returns the server's last port if it is free, else any free one, and records it for the next start. */
const choosePort = Effect.fnUntraced(function* (folder: ServerFolder, avoid: number | undefined) {
  const last = Number(yield* readOwn(folder.port))
  if (last > 0 && last !== avoid && (yield* freePort(last)) === last) return last
  const port = yield* freePort(0)
  if (port === undefined) {
    return yield* new StartRefused({
      message: "127.0.0.1 has no free TCP port for the embedded Postgres. Set DATABASE_URL."
    })
  }
  yield* writeOwn(folder.port, `${port}\n`)
  return port
})

/** A log larger than this is overwritten at the next start. Bytes. */
const logSizeMax = 4 * 1_048_576

/** Returns the port itself if it is free, or any free one for 0; undefined if it is taken. */
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

/** True if a process is a Postgres server of this folder: a server's working directory is its cluster. */
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
