/**
 * The data of a process about a mechanism besides its actor. A slot exists while the mechanism runs, starts, fails or
 * is parked, or has subscribers in this process.
 */
import { Cause, type Clock, Deferred, Effect, Fiber } from "effect"
import type { ActorKind, MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import { sameTenant, type Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { rememberedMillis } from "../../store/coordination/Availability.ts"
import { millisAtMost, type ClockReading } from "../../store/coordination/LeaseClock.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Actor } from "../actor/Actor.ts"
import type { Subscribers } from "../streams/LiveStreams.ts"
import { RestartHistory } from "../actor/RestartPolicy.ts"
import type { Change } from "../actor/Change.ts"

/** A mechanism that is parked in this process. */
export interface ParkedMechanism {
  readonly mechanismId: string
  readonly restarts: number
  /** The cause of its last failure, as text. */
  readonly cause: string
}

/** An actor whose last committed views may be shown, and the instant as of which they are certain. */
export interface FormerActor {
  readonly actor: Actor
  readonly asOf: Millis
}

export class ActorSlot {
  readonly id: string
  readonly failures = new RestartHistory()
  /** The identity as the last start read it; undefined before the first. */
  identity: MechanismIdentity<ActorKind> | undefined
  /** The cause of its last failure. */
  lastFailure: Cause.Cause<unknown> | undefined
  /** After a defect, callers cannot restart it before this instant; otherwise traffic would use up its attempts. */
  restsUntil: Millis = 0
  actor: Actor | undefined
  /** The actor that an outage has stopped, and the time of the stop; undefined once another is being built. */
  stopped: { readonly actor: Actor; readonly since: ClockReading } | undefined
  /** The actor's loop. An interruption takes effect after the write in progress. */
  loop: Fiber.Fiber<unknown> | undefined
  starting: Deferred.Deferred<Actor | undefined, Unavailable> | undefined
  /** Subscribers to their own places; undefined before the first. */
  subscribers: Subscribers | undefined
  /** Subscribers to the mechanism as a whole. */
  private readonly watchers = new Set<() => void>()
  /** Other processes, which receive every change. */
  private readonly forwards = new Set<(change: Change) => void>()

  constructor(id: string) {
    this.id = id
  }

  /** True while a subscriber in this process or in another one subscribes to the mechanism. */
  get isFollowed(): boolean {
    return this.subscribers?.isEmpty === false || this.watchers.size > 0 || this.forwards.size > 0
  }

  /** True if the slot holds nothing. The registry deletes idle slots, so invented ids use no memory. */
  get isIdle(): boolean {
    return this.actor === undefined && this.stopped === undefined && this.failures.restarts === 0 && !this.isFollowed
  }

  /** True if the actor neither runs nor starts, and is not parked. */
  get canStart(): boolean {
    return this.actor === undefined && this.starting === undefined && !this.failures.parked
  }

  /** Records a failure. Returns the pause before the next attempt; undefined if the mechanism is parked. */
  failed(cause: Cause.Cause<unknown>, now: Millis): Millis | undefined {
    const isDefect = Cause.hasDies(cause)
    this.lastFailure = cause
    const pauseMillis = this.failures.note({ isDefect, at: now })
    if (isDefect) this.restsUntil = now + (pauseMillis ?? 0)
    return pauseMillis
  }

  /** Lets a parked mechanism start again, at once. Returns false if it was not parked. */
  unpark(): boolean {
    if (!this.failures.parked) return false
    this.failures.unpark()
    this.restsUntil = 0
    return true
  }

  /** Removes the actor, which has stopped. An outage gives its instant, and the stopped actor stays readable. */
  ended(outageAt: ClockReading | undefined): void {
    if (this.actor !== undefined && outageAt !== undefined) this.stopped = { actor: this.actor, since: outageAt }
    this.actor = undefined
    this.loop = undefined
  }

  /**
   * Returns the actor whose last committed views may be shown while the database is away, and the instant until which
   * nothing else can have been committed: an actor that an outage has stopped, or one whose ownership has ended.
   */
  former(clock: Clock.Clock, ownershipEndedAt: Millis | undefined): FormerActor | undefined {
    const { actor = this.stopped?.actor } = this
    if (actor === undefined) return undefined
    const sinceStop = this.stopped === undefined ? 0 : millisAtMost(clock, this.stopped.since)
    if (sinceStop >= rememberedMillis || (this.stopped === undefined && ownershipEndedAt === undefined))
      return undefined
    const asOf = clock.currentTimeMillisUnsafe() - sinceStop
    return { actor, asOf: Math.min(asOf, ownershipEndedAt ?? asOf) }
  }

  /** Stops the actor, after its start if it is starting, and drops the stopped one. */
  readonly stop: Effect.Effect<void> = Effect.suspend(() =>
    this.starting === undefined ? Effect.void : Effect.exit(Deferred.await(this.starting))
  ).pipe(
    Effect.andThen(Effect.suspend(() => (this.loop === undefined ? Effect.void : Fiber.interrupt(this.loop)))),
    Effect.andThen(Effect.sync(() => void (this.stopped = undefined)))
  )

  get parkedMechanism(): ParkedMechanism | undefined {
    const { parked, restarts } = this.failures
    if (!parked) return undefined
    return {
      mechanismId: this.id,
      restarts,
      cause: this.lastFailure === undefined ? "" : Cause.pretty(this.lastFailure)
    }
  }

  watch(onChange: () => void): () => void {
    this.watchers.add(onChange)
    return () => void this.watchers.delete(onChange)
  }

  forward(onChange: (change: Change) => void): () => void {
    this.forwards.add(onChange)
    return () => void this.forwards.delete(onChange)
  }

  /** Forwards a commit's change to the subscribers. */
  readonly changed = (change: Change): void => {
    this.subscribers?.changed(change.consumerIds)
    if (change.recordChanged) this.tellWatchers()
    for (const onChange of this.forwards) onChange(change)
  }

  /** Notifies the subscribers that the mechanism runs again, with its stored state. */
  rebuilt(): void {
    this.subscribers?.rebuilt()
    this.tellWatchers()
  }

  private tellWatchers(): void {
    for (const onChange of this.watchers) onChange()
  }
}

/** The slots in use, by mechanism. */
export class ActorSlots extends Map<string, ActorSlot> {
  of(id: string): ActorSlot {
    let slot = this.get(id)
    if (slot === undefined) this.set(id, (slot = new ActorSlot(id)))
    return slot
  }

  get parked(): ReadonlyArray<ParkedMechanism> {
    return [...this.values()].flatMap(({ parkedMechanism }) => parkedMechanism ?? [])
  }

  /** Makes the actors of a tenant check for due transitions: its clock has changed. */
  wakeAll(tenant: Tenant): void {
    for (const { identity, actor } of this.values()) {
      if (identity !== undefined && sameTenant(identity, tenant)) actor?.wake()
    }
  }

  /** Stops the actors of lost mechanisms. */
  stop(isLost: (mechanismId: string) => boolean): Effect.Effect<void> {
    const lost = [...this.values()].filter(({ id }) => isLost(id))
    return Effect.forEach(lost, (slot) => slot.stop, { concurrency: "unbounded", discard: true })
  }
}
