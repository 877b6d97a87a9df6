/**
 * The journal: the recorded events of all mechanisms, in order for each mechanism. All other state of a mechanism can
 * be rebuilt from it.
 *
 * An actor appends the events of one batch as one commit. When `append` returns, they are on disk. The commit is
 * fenced: it names the sequence it expects the mechanism to be at. The database refuses it if another writer was
 * there first, whatever this process assumes. Where several processes share a database, a new owner takes each
 * mechanism over. From then on every commit of the former owner is refused, even if its sequence is the expected one.
 */
import { Context, Effect, Schema, Stream, type Tracer } from "effect"
import type { Event, PlaceRow } from "../../domain/mechanism/Decider.ts"
import type { ActorKind, MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { PlacesUpTo } from "./PlaceProjector.ts"

/**
 * The result of one actor's batch. Events and record are written in one transaction or not at all. Places follow
 * (`PlaceProjector.ts`).
 */
export interface Commit {
  readonly mechanismId: string
  readonly kind: ActorKind
  /** The sequence of the mechanism's last event before this commit. */
  readonly expectedSequence: number
  /**
   * The epoch in which the writer took the mechanism over, as its head said. Absent means 0: no process has taken it
   * over.
   */
  readonly epoch?: number
  /** The format version of the events. Absent means 1. */
  readonly formatVersion?: number
  /**
   * The events in order; the first gets sequence `expectedSequence + 1`. Never empty, and at most some 10,000: a
   * commit is one transaction, and later commits wait until it is done. Instants are whole milliseconds.
   */
  readonly events: ReadonlyArray<Event>
  /** The places that changed, one row a consumer, in their state after the last event. */
  readonly places: ReadonlyArray<PlaceRow & { readonly consumerId: string }>
  /** When the mechanism next has something to do without a command; null if never. */
  readonly wakeAt: Millis | null
  /** The mechanism's record after the commit. Present only if an event changed it. */
  readonly record?: MechanismRecord
  /** The spans in which sampled callers wait for the commit. They are not written. */
  readonly spans?: ReadonlyArray<Tracer.Span>
}

/** The mechanism's record in the `mechanisms` table, for reads that need no actor. */
export interface MechanismRecord {
  /** The configuration as sent (`Decider.configuration` encoded), with the values of `Decider.publishedFacts`. */
  readonly configuration: { readonly [name: string]: unknown }
  readonly status: {
    readonly statusOverride: "ended" | null
    readonly statusOverrideAt: Millis | null
    readonly statusOverrideBy: string | null
    readonly teardownStatus: "pending" | "completed" | null
  }
  readonly archived: boolean
  readonly updatedAt: Millis
  readonly updatedBy: string
}

/** The head of a mechanism's journal. */
export interface Head {
  readonly identity: MechanismIdentity<ActorKind>
  /** The sequence of the last event; 0 before the first. */
  readonly sequence: number
  /** How often the mechanism has been taken over. */
  readonly epoch: number
  /** The highest format version of the journal's commits. */
  readonly formatVersion: number
  readonly wakeAt: Millis | null
  /** The sequence of the event up to which the places are written. */
  readonly placesSequence: number
  /** Archived and torn down: no command reaches the mechanism, and it has no timed transition left. */
  readonly isOver: boolean
}

/** A new mechanism: its identity, and its first commit, which holds its `Configured` event. */
export interface Creation {
  readonly identity: MechanismIdentity<ActorKind>
  readonly createdBy: string
  readonly commit: Commit & { readonly record: MechanismRecord }
}

/** A recorded event with its number in the mechanism. */
export interface Recorded {
  readonly sequence: number
  readonly event: Event
}

/**
 * The sequence or the epoch was not the mechanism's: another writer was there first. The writer must stop and reload.
 */
export class JournalConflict extends Schema.TaggedError<JournalConflict>()("JournalConflict", {
  mechanismId: Schema.String
}) {}

export class Journal extends Context.Service<
  Journal,
  {
    /** Creates mechanisms, all or none. Joins the caller's transaction, if there is one. */
    create(creations: ReadonlyArray<Creation>): Effect.Effect<void, Unavailable>
    /**
     * Appends a commit, which is durable when the call returns. Waiting commits of all actors are written in one
     * statement and one transaction.
     */
    append(commit: Commit): Effect.Effect<void, JournalConflict | Unavailable>
    /** Returns the mechanism's head; undefined if the mechanism does not exist. */
    head(mechanismId: string): Effect.Effect<Head | undefined, Unavailable>
    /** Begins a new epoch of each of these mechanisms, so that former owners cannot write. Returns their heads. */
    takeOver(mechanismIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Head>, Unavailable>
    /**
     * Reads the events of a mechanism after `afterSequence` up to the head's, in order, in pages. Dies with
     * `JournalCorrupt` (`JournalCodec.ts`) at an event that is missing or unreadable; reading again does not help.
     */
    read(head: Head, afterSequence: number): Stream.Stream<ReadonlyArray<Recorded>, Unavailable>
    /** Writes places that follow from events on disk, after those of earlier calls and commits. Does not wait for it. */
    project(places: PlacesUpTo): void
    /** The mechanisms whose teardown is not completed, with their wake-ups. */
    readonly unfinished: Effect.Effect<ReadonlyArray<Head>, Unavailable>
    /** The mechanisms whose places are not written up to their last event. */
    readonly behind: Effect.Effect<ReadonlyArray<Head>, Unavailable>
    /** Returns the mechanisms whose stored wake-up is at or before `at`. */
    due(at: Millis): Effect.Effect<ReadonlyArray<Head>, Unavailable>
  }
>()("usher/store/journal/Journal") {}
