/**
 * The mechanisms that run in this process. The registry starts an actor from its journal at the first call, and starts
 * all unfinished mechanisms when the process starts. It wakes mechanisms that are due, rebuilds failed ones, parks
 * those that keep failing, and evicts archived ones that are over. It stops mechanisms that the process no longer owns.
 */
import { Cause, type Clock, Context, Deferred, Effect, Exit, Schema, Scope } from "effect"
import type { ActorKind, MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Measures } from "../../measures/Measures.ts"
import { FormatVersion } from "../../store/coordination/FormatVersion.ts"
import { readClocks } from "../../store/coordination/LeaseClock.ts"
import { type Head, Journal } from "../../store/journal/Journal.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { seededEntropy } from "../../store/testClock/SeededChance.ts"
import { inTimeOf, TestClocks } from "../../store/testClock/TestClocks.ts"
import type { Subscribers } from "../streams/LiveStreams.ts"
import { Entropy } from "../actor/Entropy.ts"
import { recoverPlaces } from "../actor/Recovery.ts"
import { type ActorSlot, ActorSlots, type FormerActor, type ParkedMechanism } from "./ActorSlot.ts"
import { ownsAll, type ShardOwnership } from "./ShardOwnership.ts"
import type { Change } from "../actor/Change.ts"
import { RunningActors } from "./RunningActors.ts"
import { annotated } from "../../measures/StateChange.ts"
import { CurrentRelease } from "../../store/coordination/CurrentRelease.ts"
import { hasStopped } from "../actor/Actor.ts"
import * as Actor from "../actor/Actor.ts"
import * as HeldActor from "../actor/HeldActor.ts"
import * as ChangeSubscriptions from "../streams/ChangeSubscriptions.ts"
import * as WakeupScheduler from "./WakeupScheduler.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The mechanism failed too often and is parked until an operator unparks it. 503 */
export class Parked extends Schema.TaggedError<Parked>()("Parked", {
  mechanismId: Schema.String,
  restarts: Schema.Int
}) {}

export interface Registry {
  /** Returns the actor if it runs. Costs one map look-up. */
  readonly running: (mechanismId: string) => Actor.Actor | undefined
  /** Returns the actor whose last committed views may be shown while the database is away. */
  readonly former: (mechanismId: string) => FormerActor | undefined
  /** Returns the identity of a mechanism that this process has tried to start, also after a failure. */
  readonly identity: (mechanismId: string) => MechanismIdentity<ActorKind> | undefined
  /** The running actors. */
  readonly actors: Pick<RunningActors, "query" | "onEffectNeeded" | "size">
  /**
   * Returns the actor, and starts it if necessary; undefined if there is no such mechanism. Callers share one start.
   */
  readonly acquire: (mechanismId: string) => Effect.Effect<Actor.Actor | undefined, Unavailable | Parked>
  /** The subscribers of a mechanism that has been started. */
  readonly subscribers: (mechanismId: string) => Subscribers
  /** Calls `onChange` when the mechanism itself has changed, or was rebuilt. Returns an unsubscribe function. */
  readonly watch: (mechanismId: string, onChange: () => void) => () => void
  /** Calls `onChange` after each commit of a mechanism that lives here. Returns an unsubscribe function. */
  readonly forward: (mechanismId: string, onChange: (change: Change) => void) => () => void
  /** Starts the unfinished mechanisms that the process owns and that do not run yet. */
  readonly startUnfinished: Effect.Effect<void>
  /** Stops the lost mechanisms. A write in progress finishes; no caller gets an answer after it. */
  readonly release: (isLost: (mechanismId: string) => boolean) => Effect.Effect<void>
  readonly restarts: (mechanismId: string) => number
  readonly unpark: (mechanismId: string) => Effect.Effect<void>
  /** The mechanisms that are parked until an operator unparks them. */
  readonly parked: () => ReadonlyArray<ParkedMechanism>
  /** Returns the earliest missed wake-up before an instant, among the mechanisms that should run here. */
  readonly overdue: (before: Millis) => Effect.Effect<Millis | undefined, Unavailable>
  /** True once the registry has tried to start every unfinished mechanism. */
  readonly isRestored: () => boolean
}

/** The chance of a mechanism in test mode follows from its test clock, while it has one. Live mode does not ask. */
const chanceOf = (
  clocks: TestClocks,
  identity: MechanismIdentity<ActorKind>
): Pick<Actor.ActorOptions, "seededEntropy"> => {
  if (identity.mode === "live") return {}
  return {
    seededEntropy: () => {
      const clock = clocks.of(identity)
      return clock && ((sequence, draw) => seededEntropy(clock, identity.id, sequence, draw))
    }
  }
}

/** Creates a registry whose actors live in the surrounding scope, and begins to start unfinished mechanisms. */
export const make = Effect.fnUntraced(function* (
  ownership: ShardOwnership = ownsAll
): Effect.fn.Return<Registry, never, Journal | Scope.Scope> {
  const journal = yield* Journal
  const clock = yield* Time.serverClock
  const clocks = yield* TestClocks
  const entropy = yield* Entropy
  const [scope, services] = [yield* Effect.scope, yield* Effect.context<never>()]
  const slots = new ActorSlots()
  const actors = new RunningActors(ownership, (yield* Measures).mechanisms)
  const evictor = new ArchivedEvictor()
  const { canRead, taken } = yield* makeTakeover(ownership)
  const formatVersion = yield* FormatVersion
  let isRestored = false

  const subscriptions = yield* ChangeSubscriptions.make(ownership)

  /** Builds the actor and runs it until it fails or the registry closes. */
  const boot = Effect.fnUntraced(function* (slot: ActorSlot, head: Head) {
    const actorScope = yield* Scope.fork(scope)
    const inTime = inTimeOf(clocks, head.identity)
    // Dropped first: the stopped actor would keep a second state in memory.
    slot.stopped = undefined
    const onStop = (isOutage: boolean) => {
      if (slot.actor !== undefined) actors.delete(slot.actor)
      slot.ended(isOutage ? readClocks(clock) : undefined)
    }
    const onCommit = (change: Change) => {
      slot.changed(change)
      if (slot.actor !== undefined) actors.committed(slot.actor)
      if (change.recordChanged) evictor.note(slot, clock.currentTimeMillisUnsafe())
    }
    const options = { entropy, ...chanceOf(clocks, head.identity), formatVersion, onCommit, onStop }
    const actor = yield* recoverPlaces(head).pipe(
      Effect.flatMap((recovered) => HeldActor.makeUnlessHeld(recovered, options)),
      inTime,
      Scope.provide(actorScope),
      Effect.provideService(Journal, journal),
      Effect.onError(() => Scope.close(actorScope, Exit.void))
    )
    slot.actor = actor
    actors.add(actor)
    slot.failures.recovered()
    slot.rebuilt()
    evictor.note(slot, clock.currentTimeMillisUnsafe())
    slot.loop = yield* actor.run.pipe(
      inTime,
      Effect.onExit((exit) => Effect.andThen(Scope.close(actorScope, Exit.void), afterFailure(slot, exit))),
      Effect.exit,
      // Without it, an interruption before the loop begins would leave an actor that never runs and never reports it.
      Effect.forkIn(scope, { startImmediately: true })
    )
    return actor
  })

  /**
   * Starts the actor from its head, unless it is over and its places are written. Takes it over first, unless `known`
   * was just taken over.
   */
  const start = (slot: ActorSlot, known: Head | undefined): Effect.Effect<Actor.Actor | undefined, Unavailable> =>
    (known === undefined ? taken(slot.id) : Effect.succeed(known)).pipe(
      Effect.flatMap((head) => {
        if (head === undefined || (head.isOver && head.placesSequence === head.sequence)) return Effect.undefined
        slot.identity = head.identity
        return boot(slot, head).pipe(Effect.onExit((exit) => afterFailure(slot, exit)))
      }),
      Effect.onExit(() => Effect.sync(() => forgetIfIdle(slot))),
      Effect.catchDefect((cause) => new Unavailable({ cause }))
    )

  const forgetIfIdle = (slot: ActorSlot): void => {
    slot.starting = undefined
    if (slot.isIdle) slots.delete(slot.id)
  }

  const acquire = (id: string, head?: Head): Effect.Effect<Actor.Actor | undefined, Unavailable | Parked> =>
    Effect.suspend((): Effect.Effect<Actor.Actor | undefined, Unavailable | Parked> => {
      // A closed scope runs no fiber, so the caller would get no answer.
      if (scope.state._tag === "Closed" || !ownership.owns(id)) return notHeld
      const slot = slots.of(id)
      if (slot.actor !== undefined) return Effect.succeed(slot.actor)
      if (slot.failures.parked) {
        return Effect.fail(new Parked({ mechanismId: id, restarts: slot.failures.restarts }))
      }
      if (slot.starting !== undefined) return Deferred.await(slot.starting)
      if (clock.currentTimeMillisUnsafe() < slot.restsUntil) {
        return Effect.fail(new Unavailable({ cause: "the mechanism failed a moment ago" }))
      }
      const starting = Deferred.makeUnsafe<Actor.Actor | undefined, Unavailable>()
      slot.starting = starting
      return start(slot, head).pipe(
        Effect.onExit((exit) => Deferred.done(starting, exit)),
        Effect.exit,
        forkApart(scope, services),
        Effect.andThen(Deferred.await(starting))
      )
    })

  /** Records a failure and restarts after a pause. Does not restart a parked mechanism. */
  const afterFailure = (slot: ActorSlot, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return Effect.void
    actors.failed()
    const pauseMillis = slot.failed(exit.cause, clock.currentTimeMillisUnsafe())
    const annotations = { mechanismId: slot.id, restarts: slot.failures.restarts }
    if (pauseMillis === undefined) {
      return annotated("mechanism.parked", annotations)(Effect.logError("mechanism parked", exit.cause))
    }
    return logFailure(exit.cause, pauseMillis).pipe(
      annotated("mechanism.failed", annotations),
      Effect.andThen(Effect.forkIn(Effect.andThen(Effect.sleep(pauseMillis), Effect.exit(acquire(slot.id))), scope)),
      Effect.asVoid
    )
  }

  const wakeups = yield* WakeupScheduler.makeUnlessHeld({
    journal,
    ownership,
    clocks,
    slots,
    canRead,
    start: (id, head) => Effect.exit(acquire(id, head)),
    beforePoll: Effect.suspend(() => evictor.evict(clock.currentTimeMillisUnsafe(), forgetIfIdle))
  })

  // What is due by a test clock's new time happens at once.
  yield* Effect.acquireRelease(
    Effect.sync(() => clocks.onChange((organizationId) => slots.wakeAll({ organizationId, mode: "test" }))),
    (unsubscribe) => Effect.sync(unsubscribe)
  )

  yield* wakeups.startUnfinished.pipe(
    Effect.andThen(Effect.sync(() => (isRestored = true))),
    Effect.andThen(wakeups.polls),
    Effect.forkIn(scope)
  )

  return {
    running: (id) => slots.get(id)?.actor,
    former: (id) => formerOf(slots.get(id), ownership, clock),
    identity: (id) => slots.get(id)?.identity,
    actors,
    acquire,
    subscribers: (id) => subscriptions.subscribers(slots.of(id)),
    watch: (id, onChange) => subscriptions.watch(slots.of(id), onChange),
    forward: (id, onChange) => slots.of(id).forward(onChange),
    startUnfinished: wakeups.startUnfinished,
    release: (isLost) => Effect.suspend(() => slots.stop(isLost)),
    restarts: (id) => slots.get(id)?.failures.restarts ?? 0,
    unpark: (id) =>
      Effect.suspend(() => (slots.get(id)?.unpark() === true ? Effect.asVoid(Effect.exit(acquire(id))) : Effect.void)),
    parked: () => slots.parked,
    overdue: wakeups.overdue,
    isRestored: () => isRestored
  }
})

/** Returns the actor of this process if it owns the mechanism, or did so until the database was away. */
const formerOf = (slot: ActorSlot | undefined, { owns, endedAt }: ShardOwnership, clock: Clock.Clock) => {
  if (slot === undefined) return undefined
  const ownershipEndedAt = owns(slot.id) ? undefined : endedAt?.()
  return owns(slot.id) || ownershipEndedAt !== undefined ? slot.former(clock, ownershipEndedAt) : undefined
}

/** A failed append is the database's event (`journal.failing`), and not one of each mechanism. */
const logFailure = (cause: Cause.Cause<unknown>, pauseMillis: Millis): Effect.Effect<void> => {
  const isOutage = cause.reasons.every((reason) => reason._tag === "Fail" && reason.error instanceof Unavailable)
  const log = isOutage ? Effect.logDebug : Effect.logWarning
  return log(`mechanism failed; next attempt in ${pauseMillis} ms`, cause)
}

/** Forks in the scope with these services. An actor outlives the request that starts it, and must not keep it. */
const forkApart =
  (scope: Scope.Scope, services: Context.Context<never>) =>
  <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.updateContext(
      Effect.forkIn(effect, scope, { startImmediately: true }),
      (_: Context.Context<never>) => services
    )

/** How long a mechanism stays in memory after it was first seen archived. */
const stayMillis = 1_000

export class ArchivedEvictor {
  /** When each mechanism was first seen archived. */
  private readonly since = new Map<ActorSlot, Millis>()

  /** Adds a mechanism if it is archived. The registry calls this after each change of a mechanism. */
  note(slot: ActorSlot, now: Millis): void {
    if (slot.actor?.isArchived() === true && !this.since.has(slot)) this.since.set(slot, now)
  }

  /** Stops the actors that are over and have no subscribers, and calls `forget` for each of their slots. */
  evict(now: Millis, forget: (slot: ActorSlot) => void): Effect.Effect<void> {
    const left = [...this.since].flatMap(([slot, since]) =>
      since <= now - stayMillis && slot.actor?.isOver() !== false && !slot.isFollowed ? [slot] : []
    )
    return Effect.forEach(
      left,
      (slot) =>
        Effect.andThen(
          slot.stop,
          Effect.sync(() => {
            this.since.delete(slot)
            if (slot.starting === undefined) forget(slot)
          })
        ),
      { discard: true }
    )
  }
}

/** The mechanism does not run here. */
const notHeld = Effect.fail(new Unavailable({ cause: hasStopped }))

const notReadable = ({ formatVersion }: Head) =>
  Effect.fail(new Unavailable({ cause: `the mechanism's journal needs a release that reads level ${formatVersion}` }))

/**
 * Takes a mechanism over before it starts here. A mechanism whose journal has events of a format version that this
 * release cannot read is left alone, so that a process of a newer release runs it.
 */
const makeTakeover = Effect.fnUntraced(function* (ownership: ShardOwnership) {
  const journal = yield* Journal
  const [, versionMax] = (yield* CurrentRelease).level
  const canRead = (head: Head): boolean => head.formatVersion <= versionMax

  /** Takes over a mechanism and returns its head; undefined if there is no such mechanism. */
  const taken = (id: string): Effect.Effect<Head | undefined, Unavailable> =>
    Effect.flatMap(journal.head(id), (head) => {
      if (head === undefined) return Effect.undefined
      if (!canRead(head)) return notReadable(head)
      return Effect.flatMap(ownership.takeOver([head]), ([own]) => (own === undefined ? notHeld : Effect.succeed(own)))
    })

  return { canRead, taken }
})
