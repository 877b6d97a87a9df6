/**
 * The mechanisms that live in this process: starts an actor from its journal at first touch, restores all unfinished
 * ones at start, wakes what is due, rebuilds what fails, and parks what keeps failing.
 */
import { randomBytes } from "node:crypto"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Schedule, Schema, Scope } from "effect"
import type { LiveKind } from "../domain/Mechanism.ts"
import type { Millis } from "../domain/Time.ts"
import { type Head, Journal, Unavailable } from "../store/Journal.ts"
import * as Actor from "./Actor.ts"
import type { Batch } from "./Batch.ts"
import { Audience } from "./LiveStreams.ts"
import { recover } from "./Recovery.ts"
import { FailureRecord } from "./Supervision.ts"

/** The mechanism failed too often and stands still until an operator looks at it. 503 */
export class Parked extends Schema.TaggedError<Parked>()("Parked", {
  mechanismId: Schema.String,
  restarts: Schema.Int
}) {}

/** Mechanisms that start at the same time: enough to keep the database's connections busy. */
const startConcurrency = 8

/** How often stored wake-ups are compared with the clock, for mechanisms that do not run here. */
const sweepIntervalMillis = 1_000

/** A mechanism's seat in this process, kept while it runs, starts, fails or is parked. */
class Seat {
  readonly id: string
  readonly failures = new FailureRecord()
  /** After a defect, callers do not start it again before this instant: traffic must not wear its attempts out. */
  restsUntil: Millis = 0
  actor: Actor.Actor | undefined
  /** Those who follow their places; undefined until somebody does. */
  audience: Audience | undefined
  /** Those who watch the mechanism as a whole. */
  private readonly watchers = new Set<() => void>()
  starting: Deferred.Deferred<Actor.Actor | undefined, Unavailable> | undefined
  constructor(id: string) {
    this.id = id
  }
  get isWatched(): boolean {
    return this.watchers.size > 0
  }
  watch(onChange: () => void): () => void {
    this.watchers.add(onChange)
    return () => void this.watchers.delete(onChange)
  }
  /** A commit has changed this. */
  readonly changed = ({ consumerIds, recordChanged }: Pick<Batch, "consumerIds" | "recordChanged">): void => {
    this.audience?.changed(consumerIds)
    if (recordChanged) this.tellWatchers()
  }
  /** The mechanism is there again, as it was stored. */
  rebuilt(): void {
    this.audience?.rebuilt()
    this.tellWatchers()
  }
  private tellWatchers(): void {
    for (const onChange of this.watchers) onChange()
  }
}

export interface Registry {
  /** The actor if it runs; costs a map look-up. */
  readonly running: (mechanismId: string) => Actor.Actor | undefined
  /** The actors of a kind that run. */
  readonly actorsOf: (kind: LiveKind) => ReadonlySet<Actor.Actor>
  /** The actor, started if need be; undefined if there is no such mechanism. Many callers share one start. */
  readonly acquire: (mechanismId: string) => Effect.Effect<Actor.Actor | undefined, Unavailable | Parked>
  /** Those who follow a mechanism that has been started. */
  readonly audience: (mechanismId: string) => Audience
  /** Calls `onChange` when the mechanism itself has changed, or was rebuilt, until the answer is called. */
  readonly watch: (mechanismId: string, onChange: () => void) => () => void
  readonly restarts: (mechanismId: string) => number
  readonly unpark: (mechanismId: string) => Effect.Effect<void>
  /** True once every unfinished mechanism has been started, or has failed to. */
  readonly isRestored: () => boolean
}

const notRunning = Effect.fail(new Unavailable({ cause: "the mechanism does not run" }))

/** A registry whose actors live in the surrounding scope; it begins to restore at once. */
export const make = Effect.gen(function* (): Effect.fn.Return<Registry, never, Journal | Scope.Scope> {
  const journal = yield* Journal
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const seats = new Map<string, Seat>()
  const actors = new Map<LiveKind, Set<Actor.Actor>>()
  let isRestored = false

  const forkWithServices = Effect.runForkWith(yield* Effect.context<never>())
  const fork = (loop: Effect.Effect<void>): void => void Fiber.runIn(forkWithServices(loop), scope)

  const entropy = (): string => randomBytes(16).toString("hex")

  const actorsOf = (kind: LiveKind): Set<Actor.Actor> => {
    let running = actors.get(kind)
    if (running === undefined) actors.set(kind, (running = new Set()))
    return running
  }

  const seatOf = (id: string): Seat => {
    let seat = seats.get(id)
    if (seat === undefined) seats.set(id, (seat = new Seat(id)))
    return seat
  }

  /** Builds the actor and lets it run until it fails or the registry closes. */
  const boot = Effect.fnUntraced(function* (seat: Seat, head: Head) {
    const actorScope = yield* Scope.fork(scope)
    const onStop = () => {
      if (seat.actor !== undefined) actorsOf(seat.actor.identity.kind).delete(seat.actor)
      seat.actor = undefined
    }
    const actor = yield* recover(head).pipe(
      Effect.flatMap((recovered) => Actor.make(recovered, { entropy, onCommit: seat.changed, onStop })),
      Scope.provide(actorScope),
      Effect.provideService(Journal, journal),
      Effect.onError(() => Scope.close(actorScope, Exit.void))
    )
    seat.actor = actor
    actorsOf(actor.identity.kind).add(actor)
    seat.failures.recovered()
    seat.rebuilt()
    yield* actor.run.pipe(
      Effect.onExit((exit) => Effect.andThen(Scope.close(actorScope, Exit.void), afterFailure(seat, exit))),
      Effect.exit,
      Effect.forkIn(scope)
    )
    return actor
  })

  /** Starts the actor from its head, which is looked up unless a moment ago it was. */
  const start = (seat: Seat, known: Head | undefined): Effect.Effect<Actor.Actor | undefined, Unavailable> =>
    (known === undefined ? journal.head(seat.id) : Effect.succeed(known)).pipe(
      Effect.flatMap((head) => {
        if (head !== undefined) return boot(seat, head).pipe(Effect.onExit((exit) => afterFailure(seat, exit)))
        return Effect.undefined
      }),
      Effect.onExit(() => Effect.sync(() => forgetIfIdle(seat))),
      Effect.catchDefect((cause) => new Unavailable({ cause }))
    )

  /** A seat that holds nothing is given up, so that made-up ids leave no trace. */
  const forgetIfIdle = (seat: Seat): void => {
    seat.starting = undefined
    if (seat.actor === undefined && seat.failures.restarts === 0 && !seat.isWatched) seats.delete(seat.id)
  }

  const audienceOf = (seat: Seat): Audience =>
    (seat.audience ??= new Audience({
      survey: (consumerIds) => Effect.suspend(() => seat.actor?.survey(consumerIds) ?? notRunning),
      fork
    }))

  const acquire = (id: string, head?: Head): Effect.Effect<Actor.Actor | undefined, Unavailable | Parked> =>
    Effect.suspend((): Effect.Effect<Actor.Actor | undefined, Unavailable | Parked> => {
      const seat = seatOf(id)
      if (seat.actor !== undefined) return Effect.succeed(seat.actor)
      if (seat.failures.parked) {
        return Effect.fail(new Parked({ mechanismId: id, restarts: seat.failures.restarts }))
      }
      if (seat.starting !== undefined) return Deferred.await(seat.starting)
      if (clock.currentTimeMillisUnsafe() < seat.restsUntil) {
        return Effect.fail(new Unavailable({ cause: "the mechanism failed a moment ago" }))
      }
      const starting = Deferred.makeUnsafe<Actor.Actor | undefined, Unavailable>()
      seat.starting = starting
      return start(seat, head).pipe(
        Effect.onExit((exit) => Deferred.done(starting, exit)),
        Effect.exit,
        Effect.forkIn(scope),
        Effect.andThen(Deferred.await(starting))
      )
    })

  /** Notes a failure and tries again after a pause; a parked mechanism is left alone. */
  const afterFailure = (seat: Seat, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return Effect.void
    const isDefect = Cause.hasDies(exit.cause)
    const now = clock.currentTimeMillisUnsafe()
    const pauseMillis = seat.failures.note({ isDefect, at: now })
    if (isDefect) seat.restsUntil = now + (pauseMillis ?? 0)
    const annotations = { mechanismId: seat.id, restarts: seat.failures.restarts }
    if (pauseMillis === undefined) {
      return Effect.logError("mechanism parked: it failed too often", exit.cause).pipe(Effect.annotateLogs(annotations))
    }
    return Effect.logWarning(`mechanism failed; next attempt in ${pauseMillis} ms`, exit.cause).pipe(
      Effect.annotateLogs(annotations),
      Effect.andThen(Effect.forkIn(Effect.andThen(Effect.sleep(pauseMillis), Effect.exit(acquire(seat.id))), scope)),
      Effect.asVoid
    )
  }

  const acquireAll = (heads: ReadonlyArray<Head>): Effect.Effect<void> =>
    Effect.forEach(heads, (head) => Effect.exit(acquire(head.identity.id, head)), {
      concurrency: startConcurrency,
      discard: true
    })

  const restore = journal.unfinished.pipe(
    Effect.tapError((cause) => Effect.logWarning("cannot restore yet: the database is out of reach", cause)),
    Effect.retry(Schedule.spaced("1 second")),
    Effect.flatMap(acquireAll),
    Effect.andThen(Effect.sync(() => (isRestored = true)))
  )

  /** Wakes mechanisms that are due but do not run here: made by another process, or not yet rebuilt. */
  const sweep = Effect.suspend(() => journal.due(clock.currentTimeMillisUnsafe())).pipe(
    Effect.map((heads) => heads.filter(({ identity }) => seats.get(identity.id)?.actor === undefined)),
    Effect.flatMap(acquireAll),
    Effect.ignore,
    Effect.repeat(Schedule.spaced(sweepIntervalMillis))
  )

  yield* Effect.forkIn(Effect.andThen(restore, sweep), scope)

  return {
    running: (id) => seats.get(id)?.actor,
    actorsOf,
    acquire,
    audience: (id) => audienceOf(seatOf(id)),
    watch: (id, onChange) => seatOf(id).watch(onChange),
    restarts: (id) => seats.get(id)?.failures.restarts ?? 0,
    unpark: (id) =>
      Effect.suspend(() => {
        const seat = seats.get(id)
        if (seat === undefined || !seat.failures.parked) return Effect.void
        seat.failures.unpark()
        seat.restsUntil = 0
        return Effect.asVoid(Effect.exit(acquire(id)))
      }),
    isRestored: () => isRestored
  }
})
