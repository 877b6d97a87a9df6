/**
 * The server of the demo: a separate process with its own embedded database and folder, so that it can be killed
 * abruptly. Its ports stay the same across restarts.
 */
import { Clock, Config, Console, Effect, Exit, FileSystem, Option, Schedule, Schema, Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { createServer } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { folderAt } from "../../store/postgres/embedded/ServerFolder.ts"
import { stop as stopEmbedded } from "../../store/postgres/embedded/ServerProcess.ts"
import { DemoFailed } from "./DemoFailed.ts"

/** An organization's credentials, as printed by `organizations create --json`. */
export const Keys = Schema.Struct({
  organizationId: Schema.String,
  publishableKey: Schema.String,
  secretKey: Schema.String
})
export type Keys = typeof Keys.Type

export interface DemoServer {
  readonly consumerUrl: string
  readonly adminUrl: string
  /** Starts the process and waits until it is ready. Returns the milliseconds it took. */
  readonly start: Effect.Effect<number, DemoFailed>
  /** Sends SIGKILL: the process cannot react. */
  readonly kill: Effect.Effect<void, DemoFailed>
  /** Sends SIGTERM: the process stops gracefully. Returns its exit code. */
  readonly stop: Effect.Effect<number, DemoFailed>
  /** Creates an organization with the command line, while the server runs. */
  readonly createOrganization: Effect.Effect<Keys, DemoFailed>
  /** The last lines the process printed. */
  readonly logTail: Effect.Effect<string>
}

interface Running {
  readonly handle: ChildProcessSpawner.ChildProcessHandle
  readonly scope: Scope.Closeable
}

const main = fileURLToPath(new URL("../../main.ts", import.meta.url))

const readySecondsMax = 300
const stopSecondsMax = 20
const logLinesMax = 40

/** Prepares a server that does not run yet. When the scope closes, its processes and files are removed. */
export const make = Effect.gen(function* () {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const fileSystem = yield* FileSystem.FileSystem
  const http = yield* HttpClient.HttpClient
  const directory = yield* dataDirectory
  const [consumerPort, adminPort] = yield* Effect.all([freePort, freePort])
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const databaseUrl = yield* Config.Redacted("DATABASE_URL").pipe(Config.option, Effect.orElseSucceed(Option.none))
  const environment = {
    HOST: "127.0.0.1",
    ADMIN_HOST: undefined,
    CONSUMER_PORT: `${consumerPort}`,
    ADMIN_PORT: `${adminPort}`,
    DATA_DIR: directory,
    REDIS_URL: undefined,
    LOG_FORMAT: "logfmt"
  }
  let embedded = true

  const log: Array<string> = []
  let running: Running | undefined

  const failed = (what: string) => (cause: unknown) => new DemoFailed({ message: `${what}: ${textOf(cause)}` })

  const command = (args: ReadonlyArray<string>) =>
    ChildProcess.make(process.execPath, [main, ...args], {
      env: { ...environment, DATABASE_URL: embedded ? undefined : Option.getOrUndefined(databaseUrl) },
      extendEnv: true,
      stdin: "ignore",
      forceKillAfter: `${stopSecondsMax} seconds`
    })

  const isReady = http.get(`${adminUrl}/ready`).pipe(
    Effect.map((response) => response.status === 200),
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false)
  )

  const launch = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const handle = yield* spawner.spawn(command(["serve"])).pipe(Scope.provide(scope))
    running = { handle, scope }
    yield* handle.all.pipe(
      Stream.decodeText(),
      Stream.splitLines,
      Stream.runForEach((line) => Effect.sync(() => keepLast(log, line))),
      Effect.ignore,
      Effect.forkIn(scope)
    )
    const ended = Effect.flatMap(handle.exitCode, (code) =>
      Effect.fail(new DemoFailed({ message: `it ended with code ${code}` }))
    )
    const ready = isReady.pipe(
      Effect.repeat({ until: (now) => now, schedule: Schedule.spaced("20 millis") }),
      Effect.timeoutOrElse({
        duration: `${readySecondsMax} seconds`,
        orElse: () => Effect.fail(new DemoFailed({ message: `it was not ready within ${readySecondsMax} s` }))
      })
    )
    yield* Effect.raceFirst(ready, ended)
  })

  /** Sends the signal and waits for the exit. Returns the exit code, or 128 after a signal. */
  const end = (signal: "SIGKILL" | "SIGTERM") =>
    Effect.suspend(() => {
      if (running === undefined) return Effect.succeed(0)
      const { handle, scope } = running
      running = undefined
      return handle.kill({ killSignal: signal, forceKillAfter: `${stopSecondsMax} seconds` }).pipe(
        Effect.andThen(
          handle.exitCode.pipe(
            Effect.map(Number),
            Effect.orElseSucceed(() => 128)
          )
        ),
        Effect.ensuring(Scope.close(scope, Exit.void))
      )
    })

  yield* Effect.addFinalizer(() =>
    end("SIGTERM").pipe(
      // A killed server leaves its database running.
      Effect.andThen(stopEmbedded(folderAt(join(directory, "postgres")))),
      Effect.provideService(FileSystem.FileSystem, fileSystem),
      Effect.ignore({ log: true })
    )
  )

  /** Falls back to DATABASE_URL if the embedded database cannot run. */
  const launchWithFallback = launch.pipe(
    Effect.catch((error) => {
      if (!embedded || Option.isNone(databaseUrl)) return Effect.fail(error)
      embedded = false
      return Console.log("The embedded database does not start here; DATABASE_URL is used instead.").pipe(
        Effect.andThen(end("SIGTERM")),
        Effect.andThen(launch)
      )
    })
  )

  const server: DemoServer = {
    consumerUrl: `http://127.0.0.1:${consumerPort}`,
    adminUrl,
    start: Effect.gen(function* () {
      const begun = yield* Clock.currentTimeMillis
      yield* Effect.mapError(launchWithFallback, failed("The server does not start"))
      return (yield* Clock.currentTimeMillis) - begun
    }),
    kill: end("SIGKILL").pipe(Effect.mapError(failed("The server could not be killed")), Effect.asVoid),
    stop: Effect.mapError(end("SIGTERM"), failed("The server could not be stopped")),
    createOrganization: spawner
      .string(command(["organizations", "create", "--name", "Sneaker Shop", "--plan", "enterprise", "--json"]))
      .pipe(
        Effect.flatMap(Schema.decodeEffect(Schema.fromJsonString(Keys))),
        Effect.mapError(failed("The organization could not be created"))
      ),
    logTail: Effect.sync(() => log.join("\n  "))
  }
  return server
})

/**
 * Creates a temporary folder, which is removed when the scope closes. The database's own account needs access to it.
 */
const dataDirectory = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const directory = yield* fileSystem.makeTempDirectoryScoped({ prefix: "usher-demo-" })
  yield* fileSystem.chmod(directory, 0o755)
  return directory
}).pipe(Effect.mapError((cause) => new DemoFailed({ message: `No folder for the demo: ${cause.message}` })))

/** Finds a TCP port that is free on loopback. */
export const freePort = Effect.callback<number, DemoFailed>((resume) => {
  const listener = createServer()
  listener.once("error", (error) =>
    resume(Effect.fail(new DemoFailed({ message: `No free TCP port: ${error.message}` })))
  )
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address()
    listener.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const keepLast = (lines: Array<string>, line: string): void => {
  lines.push(line)
  if (lines.length > logLinesMax) lines.shift()
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
