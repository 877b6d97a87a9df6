/**
 * What a process tells its supervisor (`Supervisor.ts`), and hears from it: whether it is ready, and which of the other
 * processes are not. `/ready` of each is 503 until all are, because a probe reaches any of them.
 */
import { Context, Deferred, Effect, Layer, Schedule } from "effect"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import { Settings } from "../../settings/Settings.ts"
import * as Orphans from "./Orphans.ts"

/** How often a process looks whether it has become ready, or is no longer. Reports are cached. */
const lookMillis = 50

/** The condition that depends on the other processes. */
const condition = "processes"

/** A process says that it is ready by itself, or not. It says so first when its program is loaded. */
export interface FromProcess {
  readonly isReady: boolean
}

/** The supervisor names the processes that are not ready. One of the processes shows the addresses, once. */
export interface ToProcess {
  readonly notReady: ReadonlyArray<string>
  readonly showsAddresses: boolean
  /** False until the ports are free, and for all but the first until that was ready: they need what it prepares. */
  readonly mayServe: boolean
}

/** True if the value is a message of a process. */
export const isFromProcess = (message: unknown): message is FromProcess =>
  typeof message === "object" && message !== null && "isReady" in message

const isToProcess = (message: unknown): message is ToProcess =>
  typeof message === "object" && message !== null && "notReady" in message && Array.isArray(message.notReady)

/** Returns when this process may serve: at once without a supervisor. */
export const mayServe = Effect.flatMap(Settings, ({ supervised }) =>
  supervised ? Effect.raceFirst(allowed, Orphans.abandoned) : Effect.void
)

const allowed = Effect.callback<void>((resume) => {
  const listener = (message: unknown) => {
    if (!isToProcess(message) || !message.mayServe) return
    process.off("message", listener)
    resume(Effect.void)
  }
  // Node keeps the messages that came before the first listener.
  process.on("message", listener)
  say({ isReady: false })
  return Effect.sync(() => process.off("message", listener))
})

/** Tells the supervisor. Without a callback a channel that is closing would end the process. */
const say = (message: FromProcess): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

export class Supervision extends Context.Service<
  Supervision,
  {
    /** Returns when all processes of the supervisor are ready: true if this one is to show the addresses. */
    readonly allReady: Effect.Effect<boolean>
  }
>()("usher/cli/runtime/Supervision") {}

const supervised = Effect.gen(function* () {
  const readiness = yield* Readiness
  const first = Deferred.makeUnsafe<boolean>()
  let notReady: ReadonlyArray<string> = ["starting"]
  let told: boolean | undefined

  yield* readiness.require(
    condition,
    Effect.sync(() => (notReady.length === 0 ? undefined : `not ready: ${notReady.join(", ")}`)),
    // Reads are served as long as there is a process to serve them.
    Effect.void as Effect.Effect<undefined>
  )
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const listener = (message: unknown) => {
        if (!isToProcess(message)) return
        notReady = message.notReady
        if (notReady.length === 0) Deferred.doneUnsafe(first, Effect.succeed(message.showsAddresses))
      }
      process.on("message", listener)
      return listener
    }),
    (listener) => Effect.sync(() => process.off("message", listener))
  )

  const tell = Effect.map(readiness.report, ({ isReady: isAllReady, reasons }) => {
    const isReady = isAllReady || Object.keys(reasons).every((name) => name === condition)
    if (isReady === told) return
    told = isReady
    say({ isReady })
  })
  yield* Effect.forkScoped(Orphans.replaced)
  yield* Effect.forkScoped(Effect.repeat(Effect.delay(tell, lookMillis), Schedule.forever))
  return { allReady: Deferred.await(first) }
})

/** Needs the conditions of the process, and adds one. */
export const layer = Layer.effect(
  Supervision,
  Effect.flatMap(Settings, (settings) =>
    settings.supervised ? supervised : Effect.succeed({ allReady: Effect.succeed(true) })
  )
)
