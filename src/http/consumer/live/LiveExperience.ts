/**
 * An experience whose public facts a caller requested: the latest snapshot, which all callers of a second share, and
 * the streams that follow it. A snapshot is encoded once for all of them.
 */
import { Deferred, Effect, Exit } from "effect"
import { HttpServerResponse } from "effect/http"
import { sha256 } from "../../../domain/values/Digest.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import type { Unavailable } from "../../../store/postgres/Unavailable.ts"
import type { RecordNotFound } from "../../../store/records/RecordNotFound.ts"
import type { EventSource, EventStream } from "../../streams/EventStream.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Milliseconds for which a snapshot serves all callers, and between two looks for the streams. */
export const snapshotMillis = 1_000

/** Streams that are written to without a break for other work. */
const sliceMax = 64

/** The facts as they are sent. */
export interface Snapshot {
  /** The digest of the facts without the instant. */
  readonly id: string
  readonly etag: string
  readonly response: HttpServerResponse.HttpServerResponse
  readonly unchanged: HttpServerResponse.HttpServerResponse
  readonly event: string
}

/** Makes the snapshot of facts, given their JSON without `now`. */
export const snapshotOf = (facts: string, now: Millis): Snapshot => {
  const id = sha256(facts).slice(0, 16)
  const text = `{"now":"${toText(now)}",${facts.slice(1)}`
  // The instant differs between equal facts, so the validator is weak.
  const headers = { etag: `W/"${id}"`, "cache-control": "public, max-age=1, s-maxage=1" }
  return {
    id,
    etag: headers.etag,
    response: HttpServerResponse.uint8Array(Buffer.from(text), { contentType: "application/json", headers }),
    unchanged: HttpServerResponse.empty({ status: 304, headers }),
    event: `id: ${id}\nevent: live\ndata: ${text}\n\n`
  }
}

type Refused = RecordNotFound | Unavailable

/** One stream of the facts. */
export class LiveWatcher implements EventSource {
  stream: EventStream | undefined
  /** The facts that the reader has. */
  seen: string | undefined
  private readonly experience: LiveExperience

  constructor(experience: LiveExperience, lastEventId: string | undefined) {
    this.experience = experience
    this.seen = lastEventId
  }

  begin(stream: EventStream): void {
    this.stream = stream
    this.experience.add(this)
  }

  stop(): void {
    this.experience.remove(this)
  }

  send({ id, event }: Snapshot): void {
    if (this.seen === id) return
    this.seen = id
    this.stream?.send(event)
  }
}

export class LiveExperience {
  private readonly watchers = new Set<LiveWatcher>()
  /** The last reading, also if it failed. */
  private latest: { readonly exit: Exit.Exit<Snapshot, Refused>; readonly until: Millis } | undefined
  private reading: Deferred.Deferred<Snapshot, Refused> | undefined
  private isWatching = false
  private readonly read: Effect.Effect<Snapshot, Refused>
  private readonly fork: (effect: Effect.Effect<unknown>) => void

  /** `read` reads and encodes the facts; `fork` runs an effect that outlives its caller. */
  constructor(read: Effect.Effect<Snapshot, Refused>, fork: (effect: Effect.Effect<unknown>) => void) {
    this.read = read
    this.fork = fork
  }

  /** The snapshot of this second. */
  readonly current: Effect.Effect<Snapshot, Refused> = Effect.flatMap(Time.serverNow, (now) =>
    this.latest !== undefined && now < this.latest.until ? this.latest.exit : this.refreshed
  )

  add(watcher: LiveWatcher): void {
    this.watchers.add(watcher)
    if (this.latest !== undefined && Exit.isSuccess(this.latest.exit)) watcher.send(this.latest.exit.value)
    if (this.isWatching) return
    this.isWatching = true
    this.fork(this.watch)
  }

  remove(watcher: LiveWatcher): void {
    this.watchers.delete(watcher)
  }

  /** Reads the facts again. Callers share one reading, which continues if one of them leaves. */
  private readonly refreshed: Effect.Effect<Snapshot, Refused> = Effect.suspend(() => {
    if (this.reading !== undefined) return Deferred.await(this.reading)
    const reading = Deferred.makeUnsafe<Snapshot, Refused>()
    this.reading = reading
    this.fork(
      Effect.onExit(this.read, (exit) =>
        Effect.flatMap(Time.serverNow, (now) => {
          this.reading = undefined
          this.latest = { exit, until: now + snapshotMillis }
          return Deferred.done(reading, exit)
        })
      ).pipe(Effect.exit)
    )
    return Deferred.await(reading)
  })

  /** Looks once a second while there are streams. */
  private readonly watch: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (this.watchers.size > 0) {
      const exit = yield* Effect.exit(this.refreshed)
      if (Exit.isSuccess(exit)) yield* this.tell((watcher) => watcher.send(exit.value))
      else if (isGone(exit)) yield* this.tell(({ stream }) => stream?.end("CLOSED"))
      yield* Effect.sleep(snapshotMillis)
    }
  }).pipe(Effect.ensuring(Effect.sync(() => (this.isWatching = false))))

  private tell(act: (watcher: LiveWatcher) => void): Effect.Effect<void> {
    const watchers = [...this.watchers]
    const slices = Array.from({ length: Math.ceil(watchers.length / sliceMax) }, (_, n) =>
      watchers.slice(n * sliceMax, (n + 1) * sliceMax)
    )
    const tellSlice = (slice: ReadonlyArray<LiveWatcher>) =>
      Effect.andThen(
        Effect.sync(() => slice.forEach(act)),
        Effect.yieldNow
      )
    return Effect.forEach(slices, tellSlice, { discard: true })
  }
}

const isGone = (exit: Exit.Failure<unknown, Refused>): boolean =>
  exit.cause.reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "RecordNotFound")
