/**
 * What a process keeps of a mechanism beside its actor: while it runs, starts, fails, is parked, or is followed from here.
 */
import { Cause, type Clock, Deferred, Effect, Fiber } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import { rememberedMillis } from "../../store/coordination/Availability.ts"
import { millisAtMost, type ClockReading } from "../../store/coordination/LeaseClock.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Actor } from "../actor/Actor.ts"
import type { Subscribers } from "../streams/LiveStreams.ts"
import { RestartHistory } from "../actor/RestartPolicy.ts"
import type { Change } from "../actor/Change.ts"

/** A mechanism that stands still in this process. */
export interface ParkedMechanism {
  readonly mechanismId: string
  readonly restarts: number
  /** What it failed of at last, in words. */
  readonly cause: string
}

export class ActorSlot {
  readonly id: string
  readonly failures = new RestartHistory()
  /** What it failed of at last. */
  lastFailure: Cause.Cause<unknown> | undefined
  /** After a defect, callers do not start it again before this instant: traffic must not wear its attempts out. */
  restsUntil: Millis = 0
  actor: Actor | undefined
  /** The actor that an outage has stopped, and when, until another is being built. */
  stopped: { readonly actor: Actor; readonly since: ClockReading } | undefined
  /** The actor's loop; interrupting it lets what is being written be written. */
  loop: Fiber.Fiber<unknown> | undefined
  starting: Deferred.Deferred<Actor | undefined, Unavailable> | undefined
  /** Those who follow their places; undefined until somebody does. */
  subscribers: Subscribers | undefined
  /** Those who watch the mechanism as a whole. */
  private readonly watchers = new Set<() => void>()
  /** Other processes, which are told every change. */
  private readonly forwards = new Set<(change: Change) => void>()

  constructor(id: string) {
    this.id = id
  }

  /** True while a subscriber in this process or in another one follows the mechanism. */
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

  /** The actor has stopped, at an instant if because of an outage. */
  ended(outageAt: ClockReading | undefined): void {
    if (this.actor !== undefined && outageAt !== undefined) this.stopped = { actor: this.actor, since: outageAt }
    this.actor = undefined
    this.loop = undefined
  }

  /** The actor that an outage has stopped, as long as what it knew may be shown. */
  former(clock: Clock.Clock): Actor | undefined {
    if (this.stopped === undefined) return undefined
    return millisAtMost(clock, this.stopped.since) < rememberedMillis ? this.stopped.actor : undefined
  }

  /** Ends the actor, which may just be starting, and forgets the former one. */
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

  /** A commit has changed this. */
  readonly changed = (change: Change): void => {
    this.subscribers?.changed(change.consumerIds)
    if (change.recordChanged) this.tellWatchers()
    for (const onChange of this.forwards) onChange(change)
  }

  /** The mechanism is there again, as it was stored. */
  rebuilt(): void {
    this.subscribers?.rebuilt()
    this.tellWatchers()
  }

  private tellWatchers(): void {
    for (const onChange of this.watchers) onChange()
  }
}
