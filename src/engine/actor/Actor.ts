/**
 * Runs one mechanism: one fiber owns its state in memory and turns commands into recorded events.
 * One loop serves every kind of mechanism. It guarantees:
 *
 * 1. The actor answers a caller only after the append has returned.
 * 2. Readers see committed state only: a read during a write waits until the write has finished.
 * 3. A failed append answers every caller in the batch with `Unavailable` and stops the actor. The registry rebuilds
 *    it from the journal, so a batch may change the state in place before the append, without a copy. Until the
 *    rebuild, the stopped actor still shows the last committed views of the consumers that the batch does not name.
 * 4. One writer: each append carries the sequence it expects, and the database refuses a stale owner.
 * 5. Replaying the journal gives the same state. The places written after each commit are a projection of that state.
 * 6. Time and randomness arrive with the batch. Time is the later of the clock and the last event; it never goes back.
 * 7. Timed transitions need no caller: after each batch the actor sets a timer for the next, and its time is stored.
 * 8. Every wait has a bound: the mailbox, the batch, the append, the waiting readers. At the bound: `Overloaded`.
 * 9. A mechanism that keeps failing is parked by the registry (`RestartPolicy.ts`), and other mechanisms continue.
 */
import { Cause, Effect, Exit, Option, Queue as Mailbox, Schema, type Scope } from "effect"
import type { Command, Moment, Refusal } from "../../domain/mechanism/Decider.ts"
import {
  actorDeciders,
  isOf,
  type ActorKind,
  type MechanismIdentity,
  type MechanismRef
} from "../../domain/mechanism/Mechanism.ts"
import type { UnitsReport } from "../../domain/mechanism/UnitProtocol.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Sample } from "../../measures/MechanismMeasures.ts"
import { Measures } from "../../measures/Measures.ts"
import { Traces } from "../../measures/Traces.ts"
import { Failpoint } from "../../store/journal/Failpoint.ts"
import { type Commit, Journal, type JournalConflict } from "../../store/journal/Journal.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import * as Timer from "./Timer.ts"
import { type AnyDecider, type Batch, type BatchMoment, lookPast, runBatch } from "./Batch.ts"
import { ActorMeter } from "./ActorMeter.ts"
import { commandsOf, type Message as AnyMessage, sender, wakeUp, withSpans } from "./Message.ts"
import { ReadBarrier } from "./ReadBarrier.ts"
import { recordOf } from "./Record.ts"
import type { Change } from "./Change.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The mechanism's mailbox is full, or the maximum of readers waits for a write. 503 with `Retry-After` */
export class Overloaded extends Schema.TaggedError<Overloaded>()("Overloaded", {}) {}

/** Commands that may wait for one mechanism: two seconds of the fastest drop. The actor refuses further ones. */
export const mailboxCapacity = 32_768

/** Most commands in one commit: enough to fill a statement, and few enough not to block the event loop. */
export const batchSizeMax = 1_000

/** The start of an actor: its identity and its state after the replay of its journal. */
export interface Recovered {
  readonly identity: MechanismIdentity<ActorKind> & { readonly kind: ActorKind }
  readonly state: unknown
  /** The sequence of the last event. */
  readonly sequence: number
  /** The epoch in which this process took the mechanism over. */
  readonly epoch: number
  /** The instant of the last event; 0 before the first. */
  readonly lastAt: Millis
}

/** The calls that an actor answers. Every answer shows committed state only. */
export interface Actor {
  readonly identity: MechanismIdentity<ActorKind>
  /** True if the mechanism exists for this caller: same kind, same tenant, and not archived unless that is included. */
  readonly isFor: (mechanism: MechanismRef<ActorKind>) => boolean
  /** True if the mechanism is archived. Its outstanding grants stay valid. */
  readonly isArchived: () => boolean
  /** True if the mechanism is archived and torn down: no caller can reach it, and no timed transition remains. */
  readonly isOver: () => boolean
  /**
   * Runs a command. Returns the consumer's view of its place. A command that names no consumer returns the ids of the
   * consumers whose places it changed.
   */
  readonly send: (command: Command) => Effect.Effect<unknown, Refusal | Unavailable | Overloaded>
  /** Does the same for a caller without a fiber. `answer` is called once, must return at once, and must not throw. */
  readonly put: (
    command: Command,
    answer: (answer: Exit.Exit<unknown, Refusal | Unavailable | Overloaded>) => void
  ) => void
  /** Makes the actor check for due transitions. Its timer misses them when the clock is put forward. */
  readonly wake: () => void
  /** Returns the last committed configuration, without waiting for a write in progress. */
  readonly configuration: () => unknown
  readonly view: (consumerId: string) => Effect.Effect<unknown, Unavailable | Overloaded>
  /** The mechanism's facts; undefined if its kind has none. */
  readonly facts: Effect.Effect<unknown, Unavailable | Overloaded>
  readonly inspect: Effect.Effect<Snapshot, Unavailable | Overloaded>
  /** Returns the result of `question` on the committed state. */
  readonly ask: <A>(question: (state: never, now: Millis) => A) => Effect.Effect<A, Unavailable | Overloaded>
  /** Returns the views of several consumers, all at one moment. */
  readonly viewMany: (consumerIds: ReadonlyArray<string>) => Effect.Effect<MechanismViews, Unavailable | Overloaded>
  /**
   * Returns a consumer's last committed view, also after an outage has stopped the actor. Undefined if a batch in
   * progress, or one whose write failed, may have changed it: that write may or may not have reached the database.
   */
  readonly lastCommittedView: (consumerId: string) => unknown
  /** Returns figures for the measures. The numbers of places may be those of the batch that is being written. */
  readonly sample: () => Sample
  /** The same without waiting: undefined during a write. */
  readonly query: <A>(question: (state: never) => A) => A | undefined
  /** The loop. Ends only by failure or interruption, after it has answered every caller. */
  readonly run: Effect.Effect<never, JournalConflict | Unavailable>
}

/** The mechanism's state and figures for the live view. */
export interface Snapshot {
  readonly configuration: unknown
  readonly status: ReturnType<AnyDecider["statusFields"]>
  readonly lifecycle: ReturnType<AnyDecider["lifecycle"]>
  readonly units: UnitsReport | undefined
  readonly counts: { readonly [status: string]: number }
  readonly entriesPerMinute: number
  readonly grantsPerMinute: number
  readonly lastSequence: number
}

/** The views of several consumers. */
export interface MechanismViews {
  readonly sequence: number
  /** Each consumer's view of its place, in the order of the requested ids. */
  readonly views: ReadonlyArray<unknown>
  /** True if the mechanism is torn down or archived, so its state is final. */
  readonly isOver: boolean
}

type Message = AnyMessage<Refusal | Unavailable | Overloaded>

/** The cause of an `Unavailable` that means: the actor tried nothing, so the caller may send the command elsewhere. */
export const hasStopped = "the mechanism's actor has stopped"

const stopped = Exit.fail(new Unavailable({ cause: hasStopped }))

/** The services that an actor needs from its registry. */
export interface ActorOptions {
  /** 16 fresh random bytes as hex, and the format version that the installation writes. */
  readonly entropy: () => string
  /** The same from the seed of a test clock, by the sequence of the event before and the calls of one decision. */
  readonly seededEntropy?: () => ((sequence: number, draw: number) => string) | undefined
  readonly formatVersion: { readonly current: number }
  /** Called after each commit with its changes; must return at once. */
  readonly onCommit: (change: Change) => void
  /**
   * Called when the loop has ended, before any caller gets its answer, so that the next call reaches a new actor. In an
   * outage the store is out of reach, and the actor can still `lastCommittedView`.
   */
  readonly onStop: (isOutage: boolean) => void
}

/** Creates an actor over the recovered state; its loop is `run`. */
export const make = Effect.fnUntraced(function* (
  recovered: Recovered,
  { entropy, seededEntropy, formatVersion, onCommit, onStop }: ActorOptions
): Effect.fn.Return<Actor, never, Journal | Scope.Scope> {
  const journal = yield* Journal
  const clock = yield* Time.clock
  const failpoint = yield* Failpoint
  const mailbox = yield* Mailbox.dropping<Message>(mailboxCapacity)
  const timer = yield* Timer.make(() => Mailbox.offerUnsafe(mailbox, wakeUp), clock)

  const { identity, state } = recovered
  const decider: AnyDecider = actorDeciders[identity.kind]
  const meter = new ActorMeter(decider, (yield* Measures).mechanisms.of(identity.kind))
  const readBarrier = new ReadBarrier()

  let { sequence, lastAt } = recovered
  /** The batch that is being written. */
  let writing: Batch | undefined
  /** The consumers whose committed places the stopped actor does not know; undefined: it knows none. */
  let uncertainConsumers: ReadonlySet<string> | undefined
  let isStopped = false
  let current: ReadonlyArray<Message> = []
  let status = decider.statusFields(state)
  let configuration: unknown = decider.configurationOf(state)
  const isOver = (): boolean => status.archived && status.teardownStatus === "completed"
  const now = (): Millis => Math.max(clock.currentTimeMillisUnsafe(), lastAt)
  const isKnown = (id: string) => (isStopped ? uncertainConsumers?.has(id) === false : writing === undefined)

  const commitOf = (batch: Batch, moment: Moment): Commit => ({
    mechanismId: identity.id,
    kind: identity.kind,
    expectedSequence: sequence,
    epoch: recovered.epoch,
    formatVersion: moment.level,
    events: batch.events,
    places: Array.from(batch.consumerIds, (consumerId) => ({ consumerId, ...decider.place(state, consumerId)! })),
    wakeAt: decider.wakeAt(state) ?? null,
    ...(batch.recordChanged ? { record: recordOf(decider, state, batch.events, moment.now) } : {})
  })

  const committed = (batch: Batch): void => {
    sequence += batch.events.length
    lastAt = batch.events[batch.events.length - 1]!.at
    if (batch.recordChanged) {
      status = decider.statusFields(state)
      configuration = decider.configurationOf(state)
    }
    meter.committed(batch.events)
  }

  const answerAll = (messages: ReadonlyArray<Message>, batch: Batch): void => {
    let index = 0
    for (const { command, answer } of messages) {
      if (command === undefined) continue
      const outcome = batch.outcomes[index++]!
      answer("view" in outcome ? Exit.succeed(outcome.view) : Exit.fail(outcome.refusal))
    }
  }

  const step = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>) {
    current = messages
    const chance = seededEntropy?.()
    const seeded = chance && ((events: number, draw: number) => chance(sequence + events, draw))
    const moment: BatchMoment = { now: now(), entropy, level: formatVersion.current, seeded }
    const commands = commandsOf(messages)
    meter.took(commands.length, decider.wakeAt(state), moment.now)
    const batch = runBatch(decider, state, commands, moment)
    if (batch.events.length > 0) {
      writing = batch
      if (failpoint !== undefined) yield* failpoint("decided")
      yield* journal.append(withSpans(commitOf(batch, moment), messages))
      if (failpoint !== undefined) yield* failpoint("committed")
      writing = undefined
      committed(batch)
      onCommit(batch)
    }
    current = []
    meter.answered(batch)
    answerAll(messages, batch)
    readBarrier.answerAll(moment.now)
    if (failpoint !== undefined) yield* failpoint("answered")
    yield* timer.set(decider.wakeAt(state), now())
  })

  const stop = (exit: Exit.Exit<never, JournalConflict | Unavailable>): void => {
    isStopped = true
    const error = Exit.isFailure(exit) ? Option.getOrUndefined(Cause.findErrorOption(exit.cause)) : undefined
    const isOutage = error?._tag === "Unavailable"
    if (isOutage && writing !== undefined) uncertainConsumers = lookPast(decider, state, writing)
    onStop(isOutage)
    const unavailable = Exit.fail(new Unavailable({ cause: Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit }))
    for (const message of current) message.answer(unavailable)
    readBarrier.refuseAll(unavailable)
    for (let next = Mailbox.takeUnsafe(mailbox); next !== undefined; next = Mailbox.takeUnsafe(mailbox)) {
      if (Exit.isFailure(next)) break
      next.value.answer(stopped)
    }
  }

  /** Reads committed state: at once, or after the write in progress. */
  const read = <A>(question: (now: Millis) => A): Effect.Effect<A, Unavailable | Overloaded> =>
    Effect.suspend((): Effect.Effect<A, Unavailable | Overloaded> => {
      if (isStopped) return stopped
      if (writing === undefined) return Effect.succeed(question(now()))
      return readBarrier.size < mailboxCapacity ? readBarrier.wait(question) : Effect.fail(new Overloaded())
    })

  const put = (message: Message): void => {
    if (isStopped) message.answer(stopped)
    else if (!Mailbox.offerUnsafe(mailbox, message)) message.answer(Exit.fail(new Overloaded()))
  }

  return {
    identity,
    isFor: (mechanism) =>
      isOf(identity, mechanism) && !(mechanism.includesArchived === true ? isOver() : status.archived),
    isArchived: () => status.archived,
    isOver: () => isOver() && writing === undefined,
    send: sender((yield* Traces) !== undefined, put),
    put: (command, answer) => put({ command, answer }),
    wake: () => void Mailbox.offerUnsafe(mailbox, wakeUp),
    configuration: () => configuration,
    view: (consumerId) => read((at) => decider.view(state, consumerId, at)),
    facts: read((at) => decider.facts?.(state, at)),
    inspect: read((at) => ({
      configuration: decider.configurationOf(state),
      status: decider.statusFields(state),
      lifecycle: decider.lifecycle(state, at),
      units: decider.units?.(state),
      counts: { ...decider.counts(state) },
      ...meter.rates(at),
      lastSequence: sequence
    })),
    ask: (question) => read((at) => question(state as never, at)),
    viewMany: (consumerIds) =>
      read((at) => {
        const { archived, teardownStatus } = decider.statusFields(state)
        const views = consumerIds.map((consumerId) => decider.view(state, consumerId, at))
        return { sequence, views, isOver: archived || teardownStatus === "completed" }
      }),
    lastCommittedView: (consumerId) => (isKnown(consumerId) ? decider.view(state, consumerId, now()) : undefined),
    sample: () => meter.sample(identity, state, Mailbox.sizeUnsafe(mailbox), now()),
    query: (question) => (writing !== undefined || isStopped ? undefined : question(state as never)),
    run: Effect.suspend(() => timer.set(decider.wakeAt(state), now())).pipe(
      Effect.andThen(
        Effect.forever(
          Effect.flatMap(Mailbox.takeBetween(mailbox, 1, batchSizeMax), (messages) =>
            Effect.uninterruptible(step(messages))
          )
        )
      ),
      Effect.onExit((exit) => Effect.sync(() => stop(exit)))
    )
  }
})
