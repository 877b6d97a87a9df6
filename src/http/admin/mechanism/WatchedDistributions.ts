/**
 * The mechanisms that admins watch (completions 4, "Live state"). WatchApi.ts describes the events.
 *
 * One loop for each watched mechanism inspects it once a second, for any number of watchers, and at once when the
 * mechanism itself changes. It compares each inspection with the last snapshot and encodes the difference once for all
 * watchers. A new watcher gets the last snapshot and follows the differences from there.
 */
import { Clock, Context, Effect, Fiber, Latch, Layer, Schema } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Engine } from "../../../engine/Engine.ts"
import { heldTimes, Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import type { EventSource, EventStream } from "../../streams/EventStream.ts"
import { Distribution } from "./DistributionApi.ts"
import * as Standings from "./Standings.ts"
import { diffOf, type Snapshot, snapshotOf } from "./WatchChanges.ts"

/** Streams of one mechanism. A further stream ends the oldest. */
export const watchersMax = 100

/** Milliseconds between the starts of two inspections of the counters. */
const lookIntervalMillis = 1_000

/**
 * Milliseconds between two inspections, however often the mechanism itself changes. Each inspection that finds a change
 * looks up its record.
 */
const lookPauseMillis = 100

/** Inspections in a row of a mechanism that keeps changing. A snapshot taken then is corrected a moment later. */
const looksMax = 3

/** A mechanism that was found. It is undefined if the mechanism cannot be inspected for now. */
type Found =
  | {
      readonly shown: typeof Distribution.Type
      readonly isArchived: boolean
      /** When it opens or opened. It is undefined if it opened with its creation. */
      readonly opensAt: Millis | undefined
    }
  | undefined

export class WatchedDistributions extends Context.Service<
  WatchedDistributions,
  {
    /**
     * Makes the source of a stream of the mechanism's live state. It sends no state if `lastEventId` names the present
     * one.
     */
    watcher(options: {
      readonly tenant: Tenant
      readonly id: string
      readonly lastEventId: string | undefined
    }): EventSource
  }
>()("usher/http/admin/mechanism/WatchedDistributions") {
  static readonly layer = Layer.effect(
    WatchedDistributions,
    Effect.gen(function* () {
      const engine = yield* Engine
      const mechanisms = yield* Mechanisms
      const standings = yield* Standings.make
      const scope = yield* Effect.scope
      const forkWithServices = Effect.runForkWith(yield* Effect.context<never>())
      const watched = new Map<string, Watched>()

      /** Makes the function that inspects a mechanism. It reads the record again if it may have changed. */
      const finder = (tenant: Tenant, id: string) => {
        let stored: Effect.Success<ReturnType<typeof mechanisms.find>>
        let last: typeof Distribution.Type | undefined
        return Effect.fnUntraced(
          function* (mayHaveChanged: boolean) {
            if (mayHaveChanged || stored === undefined) stored = yield* mechanisms.find(tenant, id)
            const mechanism = stored
            if (mechanism === undefined) return undefined
            const opensAt = heldTimes(mechanism.configuration).openAt
            if (mechanism.status.archived) {
              return { shown: yield* standings.recorded(mechanism), isArchived: true, opensAt }
            }
            last = yield* standings
              .asked(mechanism)
              .pipe(
                Effect.catchTag("Parked", ({ restarts }) =>
                  last?.live === undefined || last.live === null
                    ? standings.parked(mechanism, restarts)
                    : Effect.succeed({ ...last, live: { ...last.live, ...Standings.parkedFields(restarts) } })
                )
              )
            return { shown: last, isArchived: false, opensAt }
          },
          Effect.catch((): Effect.Effect<Found> => Effect.undefined)
        )
      }

      const watchedOf = (tenant: Tenant, id: string): Watched => {
        const known = watched.get(id)
        if (known !== undefined) return known
        const made = new Watched({
          find: finder(tenant, id),
          watch: (onChange) => engine.watch(id, onChange),
          fork: (loop) => void Fiber.runIn(forkWithServices(loop), scope),
          onEnd: () => void watched.delete(id)
        })
        watched.set(id, made)
        return made
      }

      return { watcher: ({ tenant, id, lastEventId }) => new Watcher(() => watchedOf(tenant, id), lastEventId) }
    })
  )
}

/** One stream of a mechanism's live state. */
class Watcher implements EventSource {
  readonly lastEventId: string | undefined
  stream: EventStream | undefined
  private watched: Watched | undefined
  private readonly join: () => Watched

  constructor(join: () => Watched, lastEventId: string | undefined) {
    this.join = join
    this.lastEventId = lastEventId
  }

  begin(stream: EventStream): void {
    this.stream = stream
    this.watched = this.join()
    this.watched.add(this)
  }

  stop(): void {
    this.watched?.remove(this)
  }
}

/** What a watched mechanism needs from its owner. */
interface WatchDependencies {
  /** Inspects the mechanism. It reads the record again if it may have changed. */
  readonly find: (mayHaveChanged: boolean) => Effect.Effect<Found>
  /** Calls `onChange` when the mechanism itself has changed. Returns an unsubscribe function. */
  readonly watch: (onChange: () => void) => () => void
  readonly fork: (loop: Effect.Effect<void>) => void
  /** Called when the last watcher has left. */
  readonly onEnd: () => void
}

/** A mechanism with at least one watcher. */
class Watched {
  private readonly watchers = new Set<Watcher>()
  /** The snapshot that all watchers have. */
  private told: Snapshot | undefined
  private opensAt: Millis | undefined
  private mayHaveChanged = false
  private nextLookAt: Millis = 0
  private isLooking = false
  private readonly bell = Latch.makeUnsafe()
  private readonly options: WatchDependencies

  constructor(options: WatchDependencies) {
    this.options = options
  }

  add(watcher: Watcher): void {
    this.watchers.add(watcher)
    if (this.told !== undefined) tellFirst(watcher, this.told)
    if (this.watchers.size > watchersMax) {
      const [oldest] = this.watchers
      oldest?.stream?.end("REPLACED")
    }
    if (this.isLooking) return
    this.isLooking = true
    this.options.fork(this.loop)
  }

  remove(watcher: Watcher): void {
    this.watchers.delete(watcher)
    if (this.watchers.size === 0) this.bell.openUnsafe()
  }

  private readonly loop: Effect.Effect<void> = Effect.suspend(() => {
    const unwatch = this.options.watch(() => {
      this.mayHaveChanged = true
      this.bell.openUnsafe()
    })
    return this.looks.pipe(
      Effect.catchCause((cause) => Effect.logError("A mechanism could not be watched", cause)),
      Effect.ensuring(
        Effect.sync(() => {
          unwatch()
          this.options.onEnd()
          for (const { stream } of this.watchers) stream?.close()
        })
      )
    )
  })

  private readonly looks: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (this.watchers.size > 0) {
      const found = yield* this.look
      const now = yield* Clock.currentTimeMillis
      const areCountersDue = now >= this.nextLookAt
      if (areCountersDue) this.nextLookAt = now + lookIntervalMillis
      if (found !== undefined) this.tell(found, areCountersDue)
      if (found?.isArchived === true) for (const { stream } of this.watchers) stream?.end("CLOSED")
      if (this.watchers.size === 0) return
      yield* Effect.sleep(lookPauseMillis)
      yield* Effect.timeoutOption(this.bell.await, this.waitMillis(yield* Clock.currentTimeMillis))
    }
  })

  /**
   * A mechanism that changes during an inspection is inspected again, because its record may have been read before the
   * change and its state after it.
   */
  private readonly look: Effect.Effect<Found> = Effect.gen({ self: this }, function* () {
    let found: Found
    for (let looks = 0; looks < looksMax; looks++) {
      const { mayHaveChanged } = this
      this.mayHaveChanged = false
      this.bell.closeUnsafe()
      found = yield* this.options.find(mayHaveChanged)
      if (found === undefined) this.mayHaveChanged ||= mayHaveChanged
      if (found === undefined || !this.mayHaveChanged) return found
    }
    return found
  })

  private tell({ shown, isArchived, opensAt }: NonNullable<Found>, areCountersDue: boolean): void {
    const before = this.told
    this.opensAt = opensAt
    const present = snapshotOf(encode(shown) as Snapshot["wire"], isArchived)
    if (before === undefined) {
      this.told = present
      for (const watcher of this.watchers) tellFirst(watcher, present)
      return
    }
    const news = diffOf(before, present, areCountersDue)
    if (news === undefined) return
    this.told = news.told
    for (const { stream } of this.watchers) stream?.send(news.events, news.told.event)
  }

  /**
   * Milliseconds until the next inspection if nothing changes before: a second, or less if the mechanism opens before.
   */
  private waitMillis(now: Millis): number {
    const opensAt = this.opensAt ?? -Infinity
    const nextAt = opensAt > now ? Math.min(opensAt, this.nextLookAt) : this.nextLookAt
    return Math.max(0, nextAt - now)
  }
}

const encode = Schema.encodeSync(Schema.toCodecJson(Distribution))

/** Sends the snapshot, except to a watcher that has it already. */
function tellFirst({ stream, lastEventId }: Watcher, { id, event }: Snapshot): void {
  if (lastEventId !== id) stream?.send(event)
}
