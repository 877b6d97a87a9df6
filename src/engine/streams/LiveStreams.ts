/**
 * Those who follow their places in one mechanism as they change (completions 3, "Live updates").
 *
 * After a commit the actor says whose places it changed, and has no more to do with it. One loop for each mechanism that
 * is followed looks at the committed state and tells whoever stands otherwise than it was told last: those whose own place
 * changed at once; the others, whose position may have moved, in a pass over all of them, of which at most one begins a
 * second, however many commits there were. It looks at a few at a time, so that everyone else has a turn in between.
 *
 * An audience outlives the actor: when that has been rebuilt, everybody is told how they stand then.
 */
import { Cause, Clock, Effect, Equal, Latch } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { MechanismViews } from "../actor/Actor.ts"

/** Why a listener will be told nothing more: nothing will change any more, or its consumer has opened too many others. */
export type Ending = "CLOSED" | "REPLACED"

/** Someone who follows one consumer's place, in one audience. There may be very many. */
export interface Listener<View = unknown> {
  readonly consumerId: string
  /** The sequence of the mechanism at which it was told last, before it was cut off; undefined if never. */
  readonly since: number | undefined
  /** The audience's own note: the view it was told last; undefined if none. */
  told: unknown
  /** Tells how the consumer stands as of a sequence of the mechanism. What fails is told again within a second or so. */
  tell(view: View, sequence: number): Effect.Effect<void, unknown>
  /** Called once at most; nothing is told after it. */
  end(ending: Ending): void
}

/** Where to follow places. */
export interface Following<View> {
  /** From here on the listener is told; first of all, how its consumer stands now. */
  add(listener: Listener<View>): void
  remove(listener: Listener<View>): void
}

/** Streams of one consumer in one mechanism; another one ends the oldest. */
export const streamsOfOneMax = 5

/** Between the beginnings of two passes: a position is told once a second at most. */
const passIntervalMillis = 1_000

/** Looked at without a break: each costs some 40 µs if it has to be told. */
const sliceMax = 64

/** When the mechanism cannot be looked at: it is asked again when it has been rebuilt, or after this time. */
const retryMillis = 1_000

export class Subscribers implements Following<unknown> {
  private readonly listeners = new Map<string, Array<Listener>>()
  /** Consumers to be looked at at once. */
  private readonly urgent = new Set<string>()
  /** The consumers that the pass under way has not come to. */
  private pass: Iterator<string> | undefined
  private nextPassAt: Millis = 0
  /** Whether anything has changed since the last pass began. */
  private isStale = false
  private isTelling = false
  private readonly bell = Latch.makeUnsafe()
  private readonly viewMany: (consumerIds: ReadonlyArray<string>) => Effect.Effect<MechanismViews, unknown>
  private readonly fork: (loop: Effect.Effect<void>) => void

  /** `viewMany` looks at the committed state; `fork` lets the loop run, which ends when nobody listens any more. */
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
    this.bell.openUnsafe()
    if (this.isTelling) return
    this.isTelling = true
    this.fork(this.loop)
  }

  remove(listener: Listener): void {
    const { consumerId } = listener
    const left = this.listeners.get(consumerId)?.filter((other) => other !== listener) ?? []
    if (left.length > 0) this.listeners.set(consumerId, left)
    else this.listeners.delete(consumerId)
    if (this.listeners.size === 0) this.bell.openUnsafe()
  }

  /** A commit has changed these consumers' places. */
  changed(consumerIds: Iterable<string>): void {
    if (this.listeners.size === 0) return
    let hasNews = !this.isStale
    for (const consumerId of consumerIds) {
      if (!this.listeners.has(consumerId)) continue
      this.urgent.add(consumerId)
      hasNews = true
    }
    this.isStale = true
    if (hasNews) this.bell.openUnsafe()
  }

  /** The mechanism is there again, as it was stored. */
  rebuilt(): void {
    for (const listener of [...this.listeners.values()].flat()) listener.told = undefined
    this.pass = undefined
    this.nextPassAt = 0
    this.isStale = true
    this.bell.openUnsafe()
  }

  private readonly loop: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    for (;;) {
      // Whoever rang, and whatever else waits for this process, goes on first.
      yield* Effect.yieldNow
      if (this.listeners.size === 0) {
        this.isTelling = false
        return
      }
      const now = yield* Clock.currentTimeMillis
      const consumerIds = this.nextSlice(now)
      if (consumerIds.length === 0) yield* this.news(this.isStale ? this.nextPassAt - now : undefined)
      else yield* this.look(consumerIds)
    }
  })

  /** Whom to look at next: some of those whose places changed, and some of those that a pass has to come to. */
  private nextSlice(now: Millis): ReadonlyArray<string> {
    const consumerIds = taken(this.urgent.values())
    for (const consumerId of consumerIds) this.urgent.delete(consumerId)
    if (this.pass === undefined && this.isStale && this.nextPassAt <= now) {
      this.pass = this.listeners.keys()
      this.nextPassAt = now + passIntervalMillis
      this.isStale = false
    }
    if (this.pass === undefined) return consumerIds
    const passed = taken(this.pass)
    if (passed.length < sliceMax) this.pass = undefined
    return consumerIds.length === 0 ? passed : [...new Set([...consumerIds, ...passed])]
  }

  /** Returns when something has happened, or after the given time. */
  private news(millis: number | undefined): Effect.Effect<unknown> {
    this.bell.closeUnsafe()
    return millis === undefined ? this.bell.await : Effect.timeoutOption(this.bell.await, millis)
  }

  private look(consumerIds: ReadonlyArray<string>): Effect.Effect<unknown> {
    return this.viewMany(consumerIds).pipe(
      Effect.flatMap((views) => this.tellAll(consumerIds, views)),
      Effect.catchCause((cause) => {
        for (const consumerId of consumerIds) this.urgent.add(consumerId)
        return Effect.andThen(logDefect(cause), this.news(retryMillis))
      })
    )
  }

  private tellAll(
    consumerIds: ReadonlyArray<string>,
    { views, sequence, isOver }: MechanismViews
  ): Effect.Effect<void> {
    const listeners = consumerIds.map((consumerId) => this.listeners.get(consumerId) ?? [])
    const news = listeners.flatMap((ofOne, index) => {
      const view = views[index]
      return ofOne.flatMap((listener) => {
        if (isSame(listener.told, view)) return []
        // Whoever was told of this very sequence on an earlier stream knows the view already.
        const isKnown = listener.told === undefined && listener.since === sequence
        listener.told = view
        return isKnown ? [] : [this.tell(listener, view, sequence)]
      })
    })
    const told = Effect.forEach(news, (tell) => tell, { concurrency: "unbounded", discard: true })
    if (!isOver) return told
    return Effect.andThen(
      told,
      Effect.sync(() => {
        for (const listener of listeners.flat()) listener.end("CLOSED")
      })
    )
  }

  private tell(listener: Listener, view: unknown, sequence: number): Effect.Effect<void> {
    return Effect.catchCause(listener.tell(view, sequence), (cause) => {
      listener.told = undefined
      this.isStale = true
      return logDefect(cause)
    })
  }
}

const logDefect = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Cause.hasDies(cause) ? Effect.logError("A live stream could not be told", cause) : Effect.void

/** The next of them, as many as are looked at without a break. */
function taken(consumerIds: Iterator<string>): Array<string> {
  const found: Array<string> = []
  while (found.length < sliceMax) {
    const next = consumerIds.next()
    if (next.done === true) break
    found.push(next.value)
  }
  return found
}

type Fields = { readonly [name: string]: unknown }

/** Whether two views show the same; they are flat but for an odd field. */
function isSame(told: unknown, view: unknown): boolean {
  if (told === undefined) return false
  const [one, other] = [told as Fields, view as Fields]
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => {
      const [a, b] = [one[name], other[name]]
      return a === b || (typeof a === "object" && Equal.equals(a, b))
    })
  )
}
