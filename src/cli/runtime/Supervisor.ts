/**
 * Runs `usher serve --processes N`: one engine, and fronts for all others, as nodes of one cluster on this machine. They
 * share the ports of both APIs and the database, also the embedded one.
 *
 * The engine serves first and stops last, for the fronts need it. A process that ends is started again after a pause that
 * grows; one that ends during the first start ends all. Processes whose supervisor was killed serve until another one takes
 * over (`Orphans.ts`). The signals of a terminal reach the supervisor alone, because each of the others has its own process
 * group.
 */
import { Clock, Deferred, Effect, Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { environmentWith, StartRefused } from "../../settings/Settings.ts"
import * as Environment from "./Environment.ts"
import { notListening } from "./ListenFailure.ts"
import * as Members from "./Members.ts"
import { stopRequested } from "./Signals.ts"
import { isFromProcess, type ToProcess } from "./Supervision.ts"

/** Pause before a process is started again: at first, and at most. It doubles while the process lives shortly. */
const pauseMillisMin = 500
const pauseMillisMax = 30_000

/** A process that lived this long is started again after the shortest pause. */
const steadyMillis = 60_000

const main = fileURLToPath(new URL("../../main.ts", import.meta.url))

/** A process, and what is known about it. */
interface Running extends Members.Member {
  child: ChildProcess | undefined
  isReady: boolean
  /** Succeeds when the program of the process is loaded. */
  readonly loaded: Deferred.Deferred<void>
  /** How it ended when it was asked to. */
  ending: Ending | undefined
  /** Succeeds when the process is ready for the first time, and fails if it ends before. */
  readonly started: Deferred.Deferred<void, StartRefused>
}

/** The end of a process. The code is null after a signal. */
interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Serves with `count` processes until this one is asked to stop. */
export const supervise = Effect.fnUntraced(
  function* (count: number) {
    const planned = yield* Members.plan(count)
    const all = planned.map((member): Running => ({
      ...member,
      child: undefined,
      isReady: false,
      ending: undefined,
      loaded: Deferred.makeUnsafe(),
      started: Deferred.makeUnsafe()
    }))
    killWithThisProcess(all)
    yield* Effect.scoped(Effect.raceFirst(Effect.andThen(startAll(all), Effect.never), stopRequested))
    const failed = all.filter(({ ending }) => ending !== undefined && ending.code !== 0 && ending.signal !== "SIGTERM")
    if (failed.length > 0) {
      const list = failed.map(({ name, ending }) => `${name} (${described(ending!)})`).join(", ")
      return yield* new StartRefused({ message: `Not ended gracefully: ${list}.` })
    }
  },
  Effect.annotateLogs({ process: "supervisor" }),
  Effect.catchTag("ServeError", notListening),
  Effect.provide(Environment.base)
)

/**
 * Starts all processes, which load their program. The first serves once the ports are free, the others once it is ready. Each
 * is kept running while the scope lives.
 */
const startAll = Effect.fnUntraced(function* (all: ReadonlyArray<Running>) {
  const [first, ...others] = all
  const free = Deferred.makeUnsafe<void, StartRefused>()
  const tell = makeTell(all, free)
  const scope = yield* Effect.scope
  yield* Effect.forkIn(keep(first!, tell), scope)
  // It closes before the scope's fiber of the first process ends.
  const scopeOfOthers = yield* Scope.fork(scope, "parallel")
  yield* Effect.forEach(others, (member) => Effect.forkIn(keep(member, tell), scopeOfOthers), { discard: true })
  yield* Members.portsFree(
    Effect.forEach(all, ({ loaded, started }) => Effect.raceFirst(Deferred.await(loaded), Deferred.await(started)), {
      discard: true
    })
  )
  yield* Deferred.succeed(free, undefined)
  tell()
  yield* Effect.forEach(all, ({ started }) => Deferred.await(started), { discard: true })
})

/** Runs a process again and again. An interruption stops it gracefully. */
const keep = Effect.fnUntraced(function* (member: Running, tell: () => void) {
  let pauseMillis = pauseMillisMin
  for (;;) {
    const startedAt = yield* Clock.currentTimeMillis
    const ending = yield* run(member, yield* member.environment, tell)
    const message = `${member.name} ended during its start (${described(ending)}), so all processes end.`
    yield* Deferred.fail(member.started, new StartRefused({ message }))
    if ((yield* Clock.currentTimeMillis) - startedAt >= steadyMillis) pauseMillis = pauseMillisMin
    yield* Effect.logWarning(
      `${member.name} ended (${described(ending)}); it is started again in ${pauseMillis / 1_000} s`
    )
    yield* Effect.sleep(pauseMillis)
    pauseMillis = Math.min(2 * pauseMillis, pauseMillisMax)
  }
})

/** Starts a process and returns how it ended. An interruption sends SIGTERM, and waits for the end. */
const run = (member: Running, environment: Record<string, string>, tell: () => void) =>
  Effect.callback<Ending>((resume) => {
    const child = spawn(process.execPath, [main, "serve"], {
      env: environmentWith(environment),
      detached: true,
      stdio: ["ignore", "inherit", "pipe", "ipc"]
    })
    member.child = child
    tell()
    passLines(child, member.prefix)
    child.on("message", (message) => {
      if (!isFromProcess(message)) return
      member.isReady = message.isReady
      Deferred.doneUnsafe(member.loaded, Effect.void)
      if (message.isReady) Deferred.doneUnsafe(member.started, Effect.void)
      tell()
    })
    let whenEnded = (ending: Ending) => resume(Effect.succeed(ending))
    const end = (code: number | null, signal: NodeJS.Signals | null) => {
      member.child = undefined
      member.isReady = false
      tell()
      whenEnded({ code, signal })
    }
    child.once("exit", end)
    // A process that could not be started has no exit.
    child.on("error", () => child.pid === undefined && end(1, null))
    return Effect.callback<void>((stopped) => {
      if (member.child === undefined) return stopped(Effect.void)
      whenEnded = (ending) => {
        member.ending = ending
        stopped(Effect.void)
      }
      child.kill("SIGTERM")
    })
  })

/**
 * Makes the function that tells each process which others are not ready, and whether it may serve. The first one shows the
 * addresses, once.
 */
const makeTell = (all: ReadonlyArray<Running>, portsFree: Deferred.Deferred<void, StartRefused>) => {
  let areShown = false
  return () => {
    const notReady = all.filter(({ isReady }) => !isReady).map(({ name }) => name)
    for (const [index, { child }] of all.entries()) {
      const isFirst = index === 0
      const showsAddresses = notReady.length === 0 && isFirst && !areShown
      const message: ToProcess = {
        notReady,
        showsAddresses,
        mayServe: Deferred.isDoneUnsafe(isFirst ? portsFree : all[0]!.started)
      }
      // A process that is about to end does not take it.
      if (child?.connected === true) child.send(message, () => undefined)
    }
    if (notReady.length === 0) areShown = true
  }
}

/** Writes each line of the process to standard error, after its name. Lines of JSON have the name already. */
function passLines({ stderr }: ChildProcess, prefix: string): void {
  createInterface({ input: stderr! }).on("line", (line) => {
    process.stderr.write(line.startsWith("{") ? `${line}\n` : `${prefix}${line}\n`)
  })
}

/** Processes do not outlive a supervisor that ends at once. */
function killWithThisProcess(all: ReadonlyArray<Running>): void {
  process.on("exit", () => {
    for (const { child } of all) child?.kill("SIGKILL")
  })
}

const described = ({ code, signal }: Ending): string => (signal === null ? `code ${code}` : signal)
