/**
 * Streams the changes of places in one mechanism to their subscribers.
 *
 * After a commit the actor reports whose places changed, and continues. One loop per mechanism with subscribers reads
 * the committed state and sends each view that differs from the last one sent. Consumers whose own place changed come
 * first. The others, whose positions may have moved, follow in a pass over all of them. At most one pass begins a
 * second, however many commits there were. The loop reads a few places at a time and yields to other fibers in
 * between.
 *
 * Subscribers outlive the actor. When the actor has been rebuilt, each listener gets its current view.
 */
import { Cause, Effect, Equal, Latch } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { MechanismViews } from "../actor/Actor.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Why a listener gets no more views: the mechanism is over, or its consumer has opened too many other streams. */
export type Ending = "CLOSED" | "REPLACED"

/** A subscription to one consumer's place. There may be very many. */
export interface Listener<View = unknown> {
  readonly consumerId: string
  /** The event number of the last view that was sent before the stream was cut off; undefined if none was. */
  readonly since: number | undefined
  /** The last view that was sent, for `Subscribers` alone; undefined if none was. */
  lastView: unknown
  /**
   * Sends the consumer's view as of an event number of the mechanism. After a failure the view is sent again within
   * about a second.
   */
  send(view: View, sequence: number): Effect.Effect<void, unknown>
  /** Ends the stream. Called at most once; no view is sent afterwards. */
  end(ending: Ending): void
}

/** A source of changes to places. */
export interface Following<View> {
  /** Adds a listener. It first gets its consumer's current view. */
  add(listener: Listener<View>): void
  remove(listener: Listener<View>): void
}

/** Streams of one consumer in one mechanism. One more ends the oldest. */
export const streamsOfOneMax = 5

/** Time between the beginnings of two passes: a position is sent at most once a second. */
const passIntervalMillis = 1_000

/** Places that are read without a break. Each costs some 40 µs if it has to be sent. */
const sliceMax = 64

/** Time before the loop retries when it could not read the mechanism. A rebuilt actor ends the wait. */
const retryMillis = 1_000

export class Subscribers implements Following<unknown> {
  private readonly listeners = new Map<string, Array<Listener>>()
  /** Consumers that the loop reads next. */
  private readonly urgent = new Set<string>()
  /** The consumers that the current pass has not reached. */
  private pass: Iterator<string> | undefined
  private nextPassAt: Millis = 0
  /** True if anything has changed since the last pass began. */
  private isStale = false
  private isRunning = false
  private readonly wake = Latch.makeUnsafe()
  private readonly viewMany: (consumerIds: ReadonlyArray<string>) => Effect.Effect<MechanismViews, unknown>
  private readonly fork: (loop: Effect.Effect<void>) => void

  /** `viewMany` reads the committed state. `fork` runs the loop, which ends when the last listener leaves. */
  constructor(options: {
    readonly viewMany: (consumerIds: ReadonlyArray<string>) => Effect.Effect<MechanismViews, unknown>
    readonly fork: (loop: Effect.Effect<void>) => void
  }) {
    this.viewMany = options.viewMany
    this.fork = options.fork
  }

  get isEmpty(): boolean {
    return this.listeners.size === 0
  }

  add(listener: Listener): void {
    const { consumerId } = listener
    const others = this.listeners.get(consumerId)
    if (others === undefined) this.listeners.set(consumerId, [listener])
    else if (others.push(listener) > streamsOfOneMax) others.shift()!.end("REPLACED")
    this.urgent.add(consumerId)
    this.wake.openUnsafe()
    if (this.isRunning) return
    this.isRunning = true
    this.fork(this.loop)
  }

  remove(listener: Listener): void {
    const { consumerId } = listener
    const left = this.listeners.get(consumerId)?.filter((other) => other !== listener) ?? []
    if (left.length > 0) this.listeners.set(consumerId, left)
    else this.listeners.delete(consumerId)
    if (this.listeners.size === 0) this.wake.openUnsafe()
  }

  /** Records that a commit has changed these consumers' places. */
  changed(consumerIds: Iterable<string>): void {
    if (this.listeners.size === 0) return
    let mustWake = !this.isStale
    for (const consumerId of consumerIds) {
      if (!this.listeners.has(consumerId)) continue
      this.urgent.add(consumerId)
      mustWake = true
    }
    this.isStale = true
    if (mustWake) this.wake.openUnsafe()
  }

  /** Records that the actor was rebuilt from the journal. */
  rebuilt(): void {
    for (const listener of [...this.listeners.values()].flat()) listener.lastView = undefined
    this.pass = undefined
    this.nextPassAt = 0
    this.isStale = true
    this.wake.openUnsafe()
  }

  private readonly loop: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (;;) {
      // The fiber that opened the latch, and other fibers of this process, run first.
      yield* Effect.yieldNow
      if (this.listeners.size === 0) {
        this.isRunning = false
        return
      }
      const now = yield* Time.serverNow
      const consumerIds = this.nextSlice(now)
      if (consumerIds.length === 0) yield* this.waitForChange(this.isStale ? this.nextPassAt - now : undefined)
      else yield* this.readAndSend(consumerIds)
    }
  })

  /** Returns the consumers to read next: those whose places changed, and the next ones of the pass. */
  private nextSlice(now: Millis): ReadonlyArray<string> {
    const consumerIds = takeSlice(this.urgent.values())
    for (const consumerId of consumerIds) this.urgent.delete(consumerId)
    if (this.pass === undefined && this.isStale && this.nextPassAt <= now) {
      this.pass = this.listeners.keys()
      this.nextPassAt = now + passIntervalMillis
      this.isStale = false
    }
    if (this.pass === undefined) return consumerIds
    const passed = takeSlice(this.pass)
    if (passed.length < sliceMax) this.pass = undefined
    return consumerIds.length === 0 ? passed : [...new Set([...consumerIds, ...passed])]
  }

  /** Waits for a change, or for the given time. */
  private waitForChange(millis: number | undefined): Effect.Effect<unknown> {
    this.wake.closeUnsafe()
    return millis === undefined ? this.wake.await : Effect.timeoutOption(this.wake.await, millis)
  }

  private readAndSend(consumerIds: ReadonlyArray<string>): Effect.Effect<unknown> {
    return this.viewMany(consumerIds).pipe(
      Effect.flatMap((views) => this.sendAll(consumerIds, views)),
      Effect.catchCause((cause) => {
        for (const consumerId of consumerIds) this.urgent.add(consumerId)
        return Effect.andThen(logDefect(cause), this.waitForChange(retryMillis))
      })
    )
  }

  private sendAll(
    consumerIds: ReadonlyArray<string>,
    { views, sequence, isOver }: MechanismViews
  ): Effect.Effect<void> {
    const listeners = consumerIds.map((consumerId) => this.listeners.get(consumerId) ?? [])
    const sends = listeners.flatMap((ofConsumer, index) => {
      const view = views[index]
      return ofConsumer.flatMap((listener) => {
        if (isSame(listener.lastView, view)) return []
        // A consumer that got this event number on an earlier stream already has the view.
        const isKnown = listener.lastView === undefined && listener.since === sequence
        listener.lastView = view
        return isKnown ? [] : [this.send(listener, view, sequence)]
      })
    })
    const sent = Effect.forEach(sends, (send) => send, { concurrency: "unbounded", discard: true })
    if (!isOver) return sent
    return Effect.andThen(
      sent,
      Effect.sync(() => {
        for (const listener of listeners.flat()) listener.end("CLOSED")
      })
    )
  }

  private send(listener: Listener, view: unknown, sequence: number): Effect.Effect<void> {
    return Effect.catchCause(listener.send(view, sequence), (cause) => {
      listener.lastView = undefined
      this.isStale = true
      return logDefect(cause)
    })
  }
}

const logDefect = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Cause.hasDies(cause) ? Effect.logError("A live stream could not be sent to", cause) : Effect.void

/** Takes the next consumers, up to the size of a slice. */
function takeSlice(consumerIds: Iterator<string>): Array<string> {
  const found: Array<string> = []
  while (found.length < sliceMax) {
    const next = consumerIds.next()
    if (next.done === true) break
    found.push(next.value)
  }
  return found
}

type Fields = { readonly [name: string]: unknown }

/** True if two views show the same. Views are flat except for an occasional field. */
function isSame(sent: unknown, view: unknown): boolean {
  if (sent === undefined) return false
  const [one, other] = [sent as Fields, view as Fields]
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => {
      const [a, b] = [one[name], other[name]]
      return a === b || (typeof a === "object" && Equal.equals(a, b))
    })
  )
}
