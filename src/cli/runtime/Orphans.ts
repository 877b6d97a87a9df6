/**
 * Processes whose supervisor was killed. They go on serving until another supervisor has loaded its own, so that nobody waits
 * while these load, and for half a minute at most.
 *
 * Each listens on a socket in a folder that only its user opens. Who connects asks it to stop; the connection closes when it
 * has ended.
 */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Settings } from "../../settings/Settings.ts"

/** How long a process serves without a supervisor. */
const withoutSupervisorSeconds = 30

const uid = process.getuid?.() ?? 0
const folder = join(tmpdir(), `usher-${uid}`)

/** What the names of the sockets of one service begin with: its addresses, hashed, because a socket's path is short. */
const prefixOf = ({ host, consumerPort, adminHost, adminPort }: Settings["Service"]) => {
  const addresses = JSON.stringify([host, consumerPort, adminHost, adminPort])
  return `${createHash("sha256").update(addresses).digest("hex").slice(0, 16)}-`
}

/** Creates the folder. False if there is none that only this user opens. */
const isPrivate = Effect.try(() => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  return found.isDirectory() && found.uid === uid && (found.mode & 0o777) === 0o700
}).pipe(Effect.orElseSucceed(() => false))

const disconnected = Effect.callback<void>((resume) => {
  const listener = () => resume(Effect.void)
  if (!process.connected) return listener()
  process.on("disconnect", listener)
  return Effect.sync(() => process.off("disconnect", listener))
})

/** Asks this process to stop, as a signal would. */
const stop = Effect.sync(() => process.kill(process.pid, "SIGTERM"))

/** Returns when another supervisor asks, or at once if none can. The connection stays open until the process has ended. */
const asked = Effect.gen(function* () {
  if (!(yield* isPrivate)) return
  const settings = yield* Settings
  const path = join(folder, `${prefixOf(settings)}${settings.clusterRole}-${process.pid}`)
  yield* Effect.callback<void>((resume) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined)
      resume(Effect.void)
    })
    server.on("error", () => resume(Effect.void))
    rmSync(path, { force: true })
    server.listen(path)
    process.on("exit", () => rmSync(path, { force: true }))
  })
})

/** Stops this process when it may no longer serve without a supervisor. Runs beside the service. */
export const replaced = Effect.gen(function* () {
  yield* disconnected
  // The supervisor read the log, so each line would be an error.
  process.stderr.on("error", () => undefined)
  yield* Effect.raceFirst(asked, Effect.sleep(`${withoutSupervisorSeconds} seconds`))
  yield* stop
})

/** Stops this process when its supervisor ends. Runs before the service. */
export const abandoned = Effect.andThen(disconnected, Effect.andThen(stop, Effect.never))

/** Asks the processes to stop that serve these addresses without a supervisor: first the fronts, then the engine. */
export const end = Effect.flatMap(Settings, (settings) =>
  Effect.gen(function* () {
    const prefix = prefixOf(settings)
    const sockets = (yield* isPrivate) ? readdirSync(folder).filter((name) => name.startsWith(prefix)) : []
    const [engines, fronts] = [true, false].map((isEngine) =>
      sockets.filter((name) => name.startsWith(`${prefix}engine`) === isEngine)
    )
    if (sockets.length > 0) {
      yield* Effect.logInfo("Taking over from processes whose supervisor was killed", { processes: sockets.length })
    }
    for (const group of [fronts!, engines!]) {
      yield* Effect.forEach(group, (name) => ended(join(folder, name)), { concurrency: "unbounded", discard: true })
    }
  }).pipe(Effect.timeoutOption(`${settings.shutdownTimeoutSeconds} seconds`))
)

/** Asks a process to stop, and returns when it has ended. One that was killed has left its file. */
const ended = (path: string) =>
  Effect.callback<void>((resume) => {
    const socket = connect(path)
    socket.on("error", () => rmSync(path, { force: true }))
    socket.on("close", () => resume(Effect.void))
    socket.resume()
    return Effect.sync(() => socket.destroy())
  })
