/** The streams that show one thing to several readers: each gets a snapshot first, and then the changes. */
import { Effect, Fiber, Latch } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { EventSource, EventStream, Reason } from "./EventStream.ts"

/** The state that all readers have, and the encoded event that sends it. */
export interface Snapshot {
  readonly id: string
  readonly event: string
}

/** One stream of a watched object. */
export class Watcher implements EventSource {
  stream: EventStream | undefined
  private watchers: Watchers<Snapshot> | undefined
  private readonly join: () => Watchers<Snapshot>
  private readonly lastEventId: string | undefined

  constructor(join: () => Watchers<Snapshot>, lastEventId: string | undefined) {
    this.join = join
    this.lastEventId = lastEventId
  }

  begin(stream: EventStream): void {
    this.stream = stream
    this.watchers = this.join()
    this.watchers.add(this)
  }

  stop(): void {
    this.watchers?.remove(this)
  }

  /** Sends the first snapshot, except to a reader that has it already. */
  sendFirst({ id, event }: Snapshot): void {
    if (this.lastEventId !== id) this.stream?.send(event)
  }
}

/** The watchers of one thing, with the snapshot that all of them have. */
export class Watchers<S extends Snapshot> {
  private readonly watchers = new Set<Watcher>()
  private readonly max: number
  private readonly follow: () => void
  private isFollowed = false
  private shared: S | undefined
  /** Opens when the last watcher has left, and when the owner notices a change. */
  readonly bell = Latch.makeUnsafe()

  /** A stream beyond `max` ends the oldest one. `follow` begins to read the thing, when the first watcher has joined. */
  constructor(max: number, follow: () => void) {
    this.max = max
    this.follow = follow
  }

  get isEmpty(): boolean {
    return this.watchers.size === 0
  }

  get snapshot(): S | undefined {
    return this.shared
  }

  add(watcher: Watcher): void {
    this.watchers.add(watcher)
    if (this.shared !== undefined) watcher.sendFirst(this.shared)
    if (!this.isFollowed) {
      this.isFollowed = true
      this.follow()
    }
    if (this.watchers.size <= this.max) return
    const [oldest] = this.watchers
    oldest?.stream?.end("REPLACED")
  }

  remove(watcher: Watcher): void {
    this.watchers.delete(watcher)
    if (this.isEmpty) this.bell.openUnsafe()
  }

  /** Sends the first snapshot of all. */
  begin(snapshot: S): void {
    this.shared = snapshot
    for (const watcher of this.watchers) watcher.sendFirst(snapshot)
  }

  /** Sends the events that lead to the snapshot. */
  send(events: string, snapshot: S): void {
    this.shared = snapshot
    for (const { stream } of this.watchers) stream?.send(events, snapshot.event)
  }

  end(reason: Reason): void {
    for (const { stream } of this.watchers) stream?.end(reason)
  }

  close(): void {
    for (const { stream } of this.watchers) stream?.close()
  }
}

/** What a watched thing gets from its owner. */
export interface Owner {
  readonly fork: (loop: Effect.Effect<void>) => void
  /** Called when the last watcher has left. */
  readonly onEnd: () => void
}

/** The things of one sort that are watched. */
export interface Watching {
  /** Makes the source of a stream. It sends no state if `lastEventId` names the present one. */
  watcher(options: {
    readonly tenant: Tenant
    readonly id: string
    readonly lastEventId: string | undefined
  }): EventSource
}

/** Makes the sources of streams. The streams of one id share what `make` returns. */
export const makeWatching = Effect.fnUntraced(function* (
  make: (tenant: Tenant, id: string, owner: Owner) => { readonly watchers: Watchers<Snapshot> }
) {
  const scope = yield* Effect.scope
  const forkWithServices = Effect.runForkWith(yield* Effect.context<never>())
  const fork = (loop: Effect.Effect<void>) => void Fiber.runIn(forkWithServices(loop), scope)
  const watched = new Map<string, Watchers<Snapshot>>()

  const watchersOf = (tenant: Tenant, id: string) => {
    const known = watched.get(id)
    if (known !== undefined) return known
    const { watchers } = make(tenant, id, { fork, onEnd: () => void watched.delete(id) })
    watched.set(id, watchers)
    return watchers
  }

  const watching: Watching = {
    watcher: ({ tenant, id, lastEventId }) => new Watcher(() => watchersOf(tenant, id), lastEventId)
  }
  return watching
})
