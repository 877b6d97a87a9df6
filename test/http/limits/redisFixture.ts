/** A separate Redis server for a test, if `redis-server` is on the path. */
import { Effect, Logger, Redacted, Schedule, type Scope } from "effect"
import { Redis } from "ioredis"
import { spawn, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as RedisQuotaLease from "../../../src/http/limits/RedisQuotaLease.ts"
import { make } from "../../../src/http/limits/RateLimits.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { freePort } from "../../e2e/support/Processes.ts"

/** Whether a server can be started. */
export const canStart: boolean = spawnSync("redis-server", ["--version"]).status === 0

/** Returns a suite's name, with the reason if it is skipped. */
export const title = (name: string): string => (canStart ? name : `${name} [skipped: no redis-server on the path]`)

async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, connectTimeout: 1_000, retryStrategy: () => null })
  client.on("error", () => undefined)
  const answered = await client.connect().then(
    () => true,
    () => false
  )
  client.disconnect()
  return answered
}

export const newPrefix = (): string => `usher:test:${randomUUID()}:`

/** The longest time for a response of a healthy server on a busy machine. */
export const patientMillis = 30_000

/**
 * Creates the limits of one process that shares its counts through the Redis at this URL. Returns once Redis is
 * reachable.
 */
export const node = Effect.fnUntraced(function* (url: string, options: RedisQuotaLease.Options) {
  const lease = yield* RedisQuotaLease.make(Redacted.make(url), options)
  const limits = yield* make(lease).pipe(Effect.provide(Settings.layerTest()))
  yield* until(() => lease.isInReach())
  return { lease, limits }
})

/** Waits until the condition holds, for at most a minute. */
export const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("5 millis") }),
    Effect.timeout("20 minutes")
  )

/** A server that a test may kill, suspend and restart. */
export interface OwnServer {
  readonly url: string
  readonly start: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  signal(signal: NodeJS.Signals): Effect.Effect<void>
  readonly flush: Effect.Effect<void>
}

export const ownServer: Effect.Effect<OwnServer, never, Scope.Scope> = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "usher-redis-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const port = yield* Effect.promise(freePort)
  const url = `redis://127.0.0.1:${port}`
  const options = ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, "--save", "", "--appendonly", "no"]
  let running: ReturnType<typeof spawn> | undefined
  const kill = Effect.callback<void>((resume) => {
    const ending = running
    running = undefined
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return resume(Effect.void)
    ending.once("exit", () => resume(Effect.void))
    ending.kill("SIGKILL")
  })
  const start = Effect.sync(() => (running = spawn("redis-server", options, { stdio: "ignore" }))).pipe(
    Effect.andThen(
      Effect.promise(() => answers(url)).pipe(
        Effect.repeat({ until: (isUp) => isUp, schedule: Schedule.spaced("20 millis") }),
        Effect.timeout("20 minutes"),
        Effect.orDie
      )
    ),
    Effect.asVoid
  )
  yield* Effect.addFinalizer(() => kill)
  // Kills the server too if the process exits before its scopes close.
  process.once("exit", () => running?.kill("SIGKILL"))
  yield* start
  return {
    url,
    start,
    kill,
    signal: (signal) => Effect.sync(() => void running?.kill(signal)),
    flush: Effect.promise(async () => {
      const client = new Redis(url)
      await client.flushall()
      client.disconnect()
    })
  }
})

/** Collects the log messages. */
export const logged = () => {
  const lines: Array<string> = []
  return {
    lines,
    layer: Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])
  }
}
