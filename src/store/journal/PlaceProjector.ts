/**
 * The writer of `places`, which follows the journal: no caller of an append waits for it.
 *
 * The places of commits on disk wait in memory, in segments. Within a segment, several changes of one place become one
 * row. One statement writes a segment and notes in `place_projections` up to which event its mechanisms are now
 * written. So the stored places of a mechanism are always those after exactly that event. What a process leaves
 * behind, the next owner of the mechanism adds from its replay.
 *
 * Under load the writer leaves the database to the appends, and waits until a reader asks (`CurrentPlaces.ts`), the
 * first change is old, or many wait. Otherwise it writes at once.
 */
import { Cause, Effect, Exit, Latch, Option, type Scope } from "effect"
import type { PlaceRow } from "../../domain/mechanism/Decider.ts"
import { annotated } from "../../measures/StateChange.ts"
import { monotonicMillisOf } from "../coordination/LeaseClock.ts"
import * as Time from "../coordination/Time.ts"

/** The bounds of the writer. */
export interface Limits {
  /** The age of a change, in milliseconds, and the number of rows from which the writer no longer yields to appends. */
  readonly yieldMillisMax: number
  readonly yieldRowsMax: number
  /** Rows in a statement, unless a single commit has more. */
  readonly statementRowsMax: number
  /** Rows in a second from which appends count as load. */
  readonly loadRowsPerSecond: number
}

export const defaults: Limits = {
  yieldMillisMax: 5_000,
  yieldRowsMax: 200_000,
  statementRowsMax: 10_000,
  loadRowsPerSecond: 500
}

/** The places that follow from a mechanism's events up to a sequence. */
export interface PlacesUpTo {
  readonly mechanismId: string
  readonly sequence: number
  readonly places: ReadonlyArray<PlaceRow & { readonly consumerId: string }>
}

/** The changed places of several mechanisms, which are written together. */
export class Segment {
  readonly since: number
  readonly mechanisms = new Map<string, { sequence: number; readonly places: Map<string, PlaceRow> }>()
  rows = 0

  /** `since` is the monotonic time of the first change, in milliseconds. */
  constructor(since: number) {
    this.since = since
  }

  add({ mechanismId, sequence, places }: PlacesUpTo): void {
    let mechanism = this.mechanisms.get(mechanismId)
    if (mechanism === undefined) this.mechanisms.set(mechanismId, (mechanism = { sequence, places: new Map() }))
    mechanism.sequence = sequence
    const before = mechanism.places.size
    for (const place of places) mechanism.places.set(place.consumerId, place)
    this.rows += mechanism.places.size - before
  }

  /** Returns a segment for each mechanism. */
  split(): ReadonlyArray<Segment> {
    return Array.from(this.mechanisms, ([mechanismId, { sequence, places }]) => {
      const segment = new Segment(this.since)
      segment.add({
        mechanismId,
        sequence,
        places: Array.from(places, ([consumerId, place]) => ({ ...place, consumerId }))
      })
      return segment
    })
  }
}

/** The changes that wait to be written. */
export interface Waiting {
  readonly rows: number
  /** The age of the first one. */
  readonly seconds: number
}

export interface PlaceProjector {
  /** Takes places over, to be written. Call it in the order of the commits. */
  readonly add: (places: PlacesUpTo) => void
  readonly waiting: () => Waiting
  /** Returns when everything that waits now is written. */
  readonly flush: Effect.Effect<void>
}

export interface Options<E> extends Limits {
  /** Writes a segment in one transaction. Does nothing for mechanisms that are written up to there already. */
  readonly write: (segment: Segment) => Effect.Effect<void, E>
  /** True if the content may have caused the failure and nothing was written. */
  readonly isRefusal: (error: E) => boolean
}

/** How often the database must refuse a mechanism's places. A deadlock counts too. */
const refusalsMax = 3

/** How long the writer waits after a failure, and between looks at the load. */
const retryMillis = 500
const lookMillis = 20

/** How long the end of the scope may take to write what waits. */
const lastMillisMax = 10_000

/** Starts the writer. */
export const make = Effect.fnUntraced(function* <E>(
  options: Options<E>
): Effect.fn.Return<PlaceProjector, never, Scope.Scope> {
  const clock = yield* Time.serverClock
  const now = () => monotonicMillisOf(clock)
  const backlog = new Backlog(options)
  const write = makeWrite(options)
  const work = Latch.makeUnsafe()
  const asked = Latch.makeUnsafe()
  /** The callers that wait until so many segments are written, in order. */
  const callers: Array<{ readonly segments: number; readonly resume: () => void }> = []

  const writer = Effect.gen(function* () {
    while (true) {
      yield* work.await
      // Commits of the same turn of the event loop join this segment.
      yield* Effect.yieldNow
      while (callers.length === 0 && backlog.yields(now()))
        yield* Effect.raceFirst(asked.await, Effect.sleep(lookMillis))
      yield* write(backlog.take())
      backlog.written()
      while (callers.length > 0 && callers[0]!.segments <= backlog.writtenSegments) callers.shift()!.resume()
      if (callers.length === 0) asked.closeUnsafe()
      if (backlog.isEmpty) work.closeUnsafe()
    }
  })

  const flush = Effect.callback<void>((resume) => {
    if (backlog.isEmpty) return resume(Effect.void)
    callers.push({ segments: backlog.addedSegments, resume: () => resume(Effect.void) })
    asked.openUnsafe()
  })

  yield* Effect.forkScoped(writer)
  // The scope ends in reverse order, so the writer still runs.
  yield* Effect.addFinalizer(() => Effect.timeoutOption(flush, lastMillisMax))
  return {
    add: (change) => {
      backlog.add(change, now())
      work.openUnsafe()
    },
    flush,
    waiting: () => backlog.waiting(now())
  }
})

/** The segments that are not written yet, the first of which may be on its way. */
class Backlog {
  private readonly limits: Limits
  private readonly segments: Array<Segment> = []
  private readonly load = new Load()
  private rows = 0
  private taken: Segment | undefined
  /** Segments that were written, since the start. */
  writtenSegments = 0

  constructor(limits: Limits) {
    this.limits = limits
  }

  get isEmpty(): boolean {
    return this.segments.length === 0
  }

  /** All segments, since the start. */
  get addedSegments(): number {
    return this.writtenSegments + this.segments.length
  }

  add(change: PlacesUpTo, nowMillis: number): void {
    let last = this.segments[this.segments.length - 1]
    if (last === undefined || last === this.taken || last.rows >= this.limits.statementRowsMax) {
      last = new Segment(nowMillis)
      this.segments.push(last)
    }
    const before = last.rows
    last.add(change)
    this.rows += last.rows - before
    this.load.add(change.places.length, nowMillis)
  }

  /** True while the database is left to the appends. */
  yields(nowMillis: number): boolean {
    const { loadRowsPerSecond, yieldMillisMax, yieldRowsMax } = this.limits
    return (
      this.load.perSecond(nowMillis) >= loadRowsPerSecond &&
      this.rows < yieldRowsMax &&
      nowMillis - this.segments[0]!.since < yieldMillisMax
    )
  }

  /** Returns the first segment. It gets no further changes. */
  take(): Segment {
    return (this.taken = this.segments[0]!)
  }

  /** Removes the segment that was taken. */
  written(): void {
    this.rows -= this.segments.shift()!.rows
    this.taken = undefined
    this.writtenSegments += 1
  }

  waiting(nowMillis: number): Waiting {
    return { rows: this.rows, seconds: this.isEmpty ? 0 : (nowMillis - this.segments[0]!.since) / 1_000 }
  }
}

/**
 * Makes the function that writes a segment. It repeats the statement until the database takes it. If the database
 * refuses what a segment contains, it writes each mechanism alone, and leaves behind the one that is refused again and
 * again.
 */
const makeWrite = <E>({ write, isRefusal }: Options<E>) => {
  const writeOrLeave = Effect.fnUntraced(function* (segment: Segment): Effect.fn.Return<void> {
    for (let refusals = 0; refusals < refusalsMax;) {
      const exit = yield* Effect.exit(write(segment))
      if (Exit.isSuccess(exit)) return
      const error = Cause.findErrorOption(exit.cause)
      // A defect: the content could not even be encoded.
      if (Option.isNone(error) || isRefusal(error.value)) {
        if (segment.mechanisms.size > 1) return yield* Effect.forEach(segment.split(), writeOrLeave, { discard: true })
        refusals += 1
        if (refusals === refusalsMax) yield* logRefused(segment, exit.cause)
      }
      yield* Effect.sleep(retryMillis)
    }
  })
  return writeOrLeave
}

const logRefused = ({ mechanisms }: Segment, cause: Cause.Cause<unknown>) =>
  annotated("places.refused", { mechanismId: [...mechanisms.keys()][0] })(
    Effect.logError("The database refuses places that follow from a journal. Run `usher verify-journal`.", cause)
  )

/** Counts rows by second. */
class Load {
  private second = 0
  private rows = 0
  private last = 0

  add(rows: number, nowMillis: number): void {
    this.turn(nowMillis)
    this.rows += rows
  }

  /** The rows of this second or the one before, whichever has more. */
  perSecond(nowMillis: number): number {
    this.turn(nowMillis)
    return Math.max(this.rows, this.last)
  }

  private turn(nowMillis: number): void {
    const second = Math.floor(nowMillis / 1_000)
    if (second === this.second) return
    this.last = second === this.second + 1 ? this.rows : 0
    this.second = second
    this.rows = 0
  }
}
