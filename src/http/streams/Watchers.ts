/** The streams that show one thing to several readers: each gets a snapshot first, and then the changes. */
import type { EventSource, EventStream, Reason } from "./EventStream.ts"

/** The state that all readers have, and the encoded event that sends it. */
export interface Snapshot {
  readonly id: string
  readonly event: string
}

/** The object that readers watch. It begins to read when the first one joins. */
interface Watched {
  add(watcher: Watcher): void
  remove(watcher: Watcher): void
}

/** One stream of a watched object. */
export class Watcher implements EventSource {
  stream: EventStream | undefined
  private watched: Watched | undefined
  private readonly join: () => Watched
  private readonly lastEventId: string | undefined

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

  /** Sends the first snapshot, except to a reader that has it already. */
  sendFirst({ id, event }: Snapshot): void {
    if (this.lastEventId !== id) this.stream?.send(event)
  }
}

/** The watchers of one thing, with the snapshot that all of them have. */
export class Watchers<S extends Snapshot> {
  private readonly watchers = new Set<Watcher>()
  private readonly max: number
  private shared: S | undefined

  /** A stream beyond `max` ends the oldest one. */
  constructor(max: number) {
    this.max = max
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
    if (this.watchers.size <= this.max) return
    const [oldest] = this.watchers
    oldest?.stream?.end("REPLACED")
  }

  remove(watcher: Watcher): void {
    this.watchers.delete(watcher)
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
