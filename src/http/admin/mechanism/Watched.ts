/**
 * One watched mechanism and its watchers: the loop that inspects it, and the streams that get its events.
 */
import { Effect, Schema } from "effect"
import type { Millis } from "../../../domain/values/Time.ts"
import { type Owner, Watchers } from "../../streams/Watchers.ts"
import { Distribution } from "../../../api/admin/DistributionApi.ts"
import { diffOf, type Snapshot, snapshotOf } from "./WatchChanges.ts"
import * as Time from "../../../store/coordination/Time.ts"

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
export type Found =
  | {
      readonly shown: typeof Distribution.Type
      readonly isArchived: boolean
      /** When it opens or opened. It is undefined if it opened with its creation. */
      readonly opensAt: Millis | undefined
    }
  | undefined

/** The data that a watched mechanism needs from its owner. */
interface WatchDependencies extends Owner {
  /** Streams at the same time. A further stream ends the oldest. */
  readonly watchersMax: number
  /** Inspects the mechanism. It reads the record again if it may have changed. */
  readonly find: (mayHaveChanged: boolean) => Effect.Effect<Found>
  /** Calls `onChange` when the mechanism itself has changed. Returns an unsubscribe function. */
  readonly watch: (onChange: () => void) => () => void
}

/** A mechanism with at least one watcher. */
export class Watched {
  readonly watchers: Watchers<Snapshot>
  private opensAt: Millis | undefined
  private mayHaveChanged = false
  private nextLookAt: Millis = 0
  private readonly options: WatchDependencies

  constructor(options: WatchDependencies) {
    this.options = options
    this.watchers = new Watchers(options.watchersMax, () => options.fork(this.loop))
  }

  private readonly loop: Effect.Effect<void> = Effect.suspend(() => {
    const unwatch = this.options.watch(() => {
      this.mayHaveChanged = true
      this.watchers.bell.openUnsafe()
    })
    return this.looks.pipe(
      Effect.catchCause((cause) => Effect.logError("A mechanism could not be watched", cause)),
      Effect.ensuring(
        Effect.sync(() => {
          unwatch()
          this.options.onEnd()
          this.watchers.close()
        })
      )
    )
  })

  private readonly looks: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (!this.watchers.isEmpty) {
      const found = yield* this.look
      const now = yield* Time.serverNow
      const areCountersDue = now >= this.nextLookAt
      if (areCountersDue) this.nextLookAt = now + lookIntervalMillis
      if (found !== undefined) this.send(found, areCountersDue)
      if (found?.isArchived === true) this.watchers.end("CLOSED")
      if (this.watchers.isEmpty) return
      yield* Effect.sleep(lookPauseMillis)
      yield* Effect.timeoutOption(this.watchers.bell.await, this.waitMillis(yield* Time.serverNow))
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
      this.watchers.bell.closeUnsafe()
      found = yield* this.options.find(mayHaveChanged)
      if (found === undefined) this.mayHaveChanged ||= mayHaveChanged
      if (found === undefined || !this.mayHaveChanged) return found
    }
    return found
  })

  private send({ shown, isArchived, opensAt }: NonNullable<Found>, areCountersDue: boolean): void {
    const before = this.watchers.snapshot
    this.opensAt = opensAt
    const present = snapshotOf(encode(shown) as Snapshot["wire"], isArchived)
    if (before === undefined) return this.watchers.begin(present)
    const diff = diffOf(before, present, areCountersDue)
    if (diff !== undefined) this.watchers.send(diff.events, diff.snapshot)
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
