/**
 * The loop of a background worker: a round of work, a pause, and so on until the surrounding scope closes.
 *
 * A worker keeps nothing in memory that a restart could lose. Each round reads from the database or asks the mechanisms
 * what there is to do. So nothing is repaired after a failed round: the next one finds the same work.
 */
import { Cause, Effect, Latch, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import type { Kind } from "../domain/mechanism/Mechanism.ts"
import { Engine } from "../engine/Engine.ts"
import { type ClockReading, millisAtLeast, millisAtMost, readClocks } from "../store/coordination/LeaseClock.ts"
import { Leases } from "../store/coordination/Leases.ts"
import * as Time from "../store/coordination/Time.ts"
import { Unavailable } from "../store/postgres/Unavailable.ts"

/** How long a lease lasts without an extension, and how often it is extended during the work. */
const leaseSeconds = 10
const extendIntervalMillis = 3_000

/** How long a process waits for the release of a lease. */
const releaseMillis = 2_000

/** What a worker does, and when. */
export interface WorkerLoop<E, R> {
  /** Does what there is to do. Returns true if there is more: then the next round follows after `spacingMillis`. */
  readonly round: Effect.Effect<boolean | void, E, R>
  /** Milliseconds to pause after a round with nothing more to do, and after a failed one. */
  readonly pauseMillis: number
  /** Shortest pause between two rounds in milliseconds, so that many wake-ups lead to few rounds. Default: 0. */
  readonly spacingMillis?: number
  /** Opening it ends the pause, also if that happens during the round. The loop closes it before each round. */
  readonly wakeUp?: Latch.Latch
  /** True to pause before the first round. */
  readonly pausesFirst?: boolean
  /** What the log says about a failed round. */
  readonly failureMessage: string
}

/** Starts the loop in the surrounding scope. */
export const start = <E, R>(loop: WorkerLoop<E, R>): Effect.Effect<void, never, R | Scope.Scope> => {
  const { pauseMillis, spacingMillis = 0, wakeUp = Latch.makeUnsafe() } = loop
  const round = Effect.suspend(() => {
    wakeUp.closeUnsafe()
    return orElseLogged(loop.failureMessage, false)(loop.round)
  })
  const spacing = spacingMillis === 0 ? Effect.void : Effect.sleep(spacingMillis)
  const idle = Effect.timeoutOption(wakeUp.await, pauseMillis - spacingMillis)
  const rounds = Effect.forever(
    Effect.flatMap(round, (isMore) => (isMore === true ? spacing : Effect.andThen(spacing, idle)))
  )
  return Effect.asVoid(Effect.forkScoped(loop.pausesFirst === true ? Effect.delay(rounds, pauseMillis) : rounds))
}

/** Creates a latch that the engine opens when mechanisms of the kind need outside work. */
export const wakeUpFor = Effect.fnUntraced(function* (
  kind: Kind
): Effect.fn.Return<Latch.Latch, never, Engine | Scope.Scope> {
  const engine = yield* Engine
  const wakeUp = yield* Latch.make()
  yield* Effect.acquireRelease(
    Effect.sync(() => engine.onEffectNeeded(kind, () => void wakeUp.openUnsafe())),
    (unsubscribe) => Effect.sync(unsubscribe)
  )
  return wakeUp
})

/**
 * Returns `otherwise` if the work fails. Says nothing while the database is away, because the heartbeat reports that.
 * Logs any other failure as a warning, and a defect as an error, with this message.
 */
export const orElseLogged =
  <B>(message: string, otherwise: B) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A | B, never, R> =>
    work.pipe(
      Effect.catch((error) =>
        Effect.as(error instanceof Unavailable ? Effect.void : Effect.logWarning(message, Cause.fail(error)), otherwise)
      ),
      Effect.catchDefect((defect) => Effect.as(Effect.logError(message, defect), otherwise))
    )

/** What happens to a lease after the work: it is released at once, or kept for the next round. */
type AfterWork = "release" | "keep"

/**
 * Creates the function that does work only while this process has a lease of this name. Of the processes that share the
 * database one does the work. It extends the lease during the work, also while the database is away.
 *
 * The function returns false if another process has the lease, or gets it during the work, which is interrupted then. A
 * lease that is kept ends 10 s after its last extension, and with the surrounding scope.
 */
export const makeWithLease = Effect.gen(function* () {
  const leases = yield* Leases
  const clock = yield* Time.serverClock
  const owner = randomUUID()
  /** The leases to keep that have not ended, with when each was last extended. */
  const kept = new Map<string, ClockReading>()
  const release = (name: string) => leases.release(name, owner).pipe(Effect.timeout(releaseMillis), Effect.ignore)
  yield* Effect.addFinalizer(() => Effect.forEach(kept.keys(), release, { discard: true }))

  const acquire = Effect.fnUntraced(function* (name: string, after: AfterWork) {
    const now = readClocks(clock)
    const isHeld = yield* leases.acquire(name, owner, leaseSeconds)
    if (after === "release") return isHeld
    if (isHeld) kept.set(name, now)
    else kept.delete(name)
    return isHeld
  })

  /** True if the lease was extended a moment ago, so that many short pieces of work do not write it each time. */
  const isFresh = (name: string): boolean => {
    for (const [other, since] of kept) if (millisAtLeast(clock, since) >= leaseSeconds * 1_000) kept.delete(other)
    const since = kept.get(name)
    return since !== undefined && millisAtMost(clock, since) < extendIntervalMillis
  }

  /** Extends the lease until another process has it. */
  const extend = (name: string, after: AfterWork) =>
    Effect.sleep(extendIntervalMillis).pipe(
      Effect.andThen(Effect.orElseSucceed(acquire(name, after), () => true)),
      Effect.repeat({ while: (isHeld) => isHeld })
    )

  return Effect.fnUntraced(function* <E, R>(name: string, after: AfterWork, work: Effect.Effect<boolean, E, R>) {
    if (!isFresh(name) && !(yield* acquire(name, after))) return false
    const race = Effect.raceFirst(work, extend(name, after))
    return yield* after === "keep" ? race : Effect.ensuring(race, release(name))
  })
})
