/**
 * The mechanisms that admins watch as they change (completions 4, "Live state"). What is told is described in WatchApi.ts.
 *
 * One loop for each watched mechanism looks at it once a second, however many watch, and at once when the mechanism itself has
 * changed. Each look compares what is there with what was told last, and what is new is written down once, for all. Whoever
 * comes later is told what the others were told last, and goes on from there with them.
 */
import { Clock, Context, Effect, Fiber, Latch, Layer, Schema } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Engine } from "../../../engine/Engine.ts"
import { heldTimes } from "../../../store/mechanism/MechanismLifecycle.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import type { EventSource, EventStream } from "../../streams/EventStream.ts"
import { Distribution } from "./DistributionApi.ts"
import * as Standings from "./Standings.ts"
import { diffOf, type Snapshot, snapshotOf } from "./WatchChanges.ts"

/** Streams of one mechanism; another one ends the oldest. */
export const watchersMax = 100

/** Between the beginnings of two looks at the counters. */
const lookIntervalMillis = 1_000

/** Between two looks, however often the mechanism itself changes: each that finds a change costs a look-up of its record. */
const lookPauseMillis = 100

/** How often one is looked at again that goes on changing: what is told then is put right a moment later. */
const looksMax = 3

/** A mechanism as it was found: undefined if it cannot be looked at for now. */
type Found =
  | {
      readonly shown: typeof Distribution.Type
      readonly isArchived: boolean
      /** When it opens, or opened; undefined: with its creation. */
      readonly opensAt: Millis | undefined
    }
  | undefined

export class WatchedDistributions extends Context.Service<
  WatchedDistributions,
  {
    /** A source for a stream of the mechanism's live state, from what `lastEventId` stands for on, if it still is so. */
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

      /** Answers the function that looks at a mechanism; its record is read again when it may have changed. */
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

/** What a watched mechanism needs of whoever holds it. */
interface WatchDependencies {
  /** Looks at the mechanism; its record is read again if it may have changed. */
  readonly find: (mayHaveChanged: boolean) => Effect.Effect<Found>
  /** Calls `onChange` when the mechanism itself has changed, until the answer is called. */
  readonly watch: (onChange: () => void) => () => void
  readonly fork: (loop: Effect.Effect<void>) => void
  /** Called when nobody watches any more. */
  readonly onEnd: () => void
}

/** A mechanism that is watched, for as long as it is. */
class Watched {
  private readonly watchers = new Set<Watcher>()
  /** What all of them know. */
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

  /** What changes while it is looked at is looked at again: its record may have been read before, and its state after. */
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

  /** Until the next look, if nothing happens before: a second, or less if the mechanism opens before. */
  private waitMillis(now: Millis): number {
    const opensAt = this.opensAt ?? -Infinity
    const nextAt = opensAt > now ? Math.min(opensAt, this.nextLookAt) : this.nextLookAt
    return Math.max(0, nextAt - now)
  }
}

const encode = Schema.encodeSync(Schema.toCodecJson(Distribution))

/** Whoever knows the present state already is not told it again. */
function tellFirst({ stream, lastEventId }: Watcher, { id, event }: Snapshot): void {
  if (lastEventId !== id) stream?.send(event)
}
