/**
 * The journal: the recorded events of all mechanisms, in order for each. It is the truth; everything else about a
 * mechanism's state can be rebuilt from it.
 *
 * An actor appends the events of one batch as one commit. When `append` returns, they are on disk. The commit is fenced:
 * it names the sequence it expects the mechanism to be at, and the database itself refuses it when another writer was
 * there first, whatever this process believes. Where several processes share a database, whoever begins to own a mechanism
 * takes it over, and from then on every commit of its former owner is refused, be it the next in order or not.
 */
import { Context, Effect, Schema, Stream } from "effect"
import type { Event, Kind, MechanismIdentity, PlaceRow } from "../../domain/mechanism/Decider.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"

/** All that one actor's batch leads to, written in one transaction or not at all. */
export interface Commit {
  readonly mechanismId: string
  readonly kind: Kind
  /** The sequence of the mechanism's last event before this commit. */
  readonly expectedSequence: number
  /** The epoch in which its writer took the mechanism over, as the head told it; absent: 0, nobody ever has. */
  readonly epoch?: number
  /**
   * In order; the first gets sequence `expectedSequence + 1`. Never empty, and at most some 10,000: a commit is one
   * transaction, and whatever waits behind it waits as long as it takes. Instants are whole milliseconds.
   */
  readonly events: ReadonlyArray<Event>
  /** The places that changed, one row a consumer, as they stand after the last event. */
  readonly places: ReadonlyArray<PlaceRow & { readonly consumerId: string }>
  /** When the mechanism next has something to do by itself; null if never. */
  readonly wakeAt: Millis | null
  /** The mechanism's record after the commit; present only if an event changed it. */
  readonly record?: MechanismRecord
}

/** The mechanism's record as the `mechanisms` table keeps it beside the journal, for reads that need no actor. */
export interface MechanismRecord {
  /** The configuration as sent: `Decider.configuration` encoded; and with it what `Decider.published` says. */
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

/** Where a mechanism's journal stands. */
export interface Head {
  readonly identity: MechanismIdentity
  /** Of the last event; 0 before the first. */
  readonly sequence: number
  /** How often the mechanism has been taken over. */
  readonly epoch: number
  readonly wakeAt: Millis | null
  /** Archived and torn down: nobody can reach it any more, and time brings nothing. */
  readonly isOver: boolean
}

/** A mechanism that is coming into being: its identity, and its first commit, which holds its `Configured` event. */
export interface Creation {
  readonly identity: MechanismIdentity
  readonly createdBy: string
  readonly commit: Commit & { readonly record: MechanismRecord }
}

/** A recorded event with its place in the mechanism's order. */
export interface Recorded {
  readonly sequence: number
  readonly event: Event
}

/** The sequence or the reign was not the mechanism's: another writer was there first. The writer must stop and reload. */
export class JournalConflict extends Schema.TaggedError<JournalConflict>()("JournalConflict", {
  mechanismId: Schema.String
}) {}

export class Journal extends Context.Service<
  Journal,
  {
    /** Brings mechanisms into being, all or none; joins the transaction it is called in, if there is one. */
    create(creations: ReadonlyArray<Creation>): Effect.Effect<void, Unavailable>
    /** Durable when it returns. Waiting commits of all actors travel together, in one statement and one transaction. */
    append(commit: Commit): Effect.Effect<void, JournalConflict | Unavailable>
    /** The mechanism's head, or undefined if there is no such mechanism. */
    head(mechanismId: string): Effect.Effect<Head | undefined, Unavailable>
    /** Begins a new epoch of each of these mechanisms: former owners cannot write any more. Answers their heads. */
    takeOver(mechanismIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Head>, Unavailable>
    /**
     * All recorded events of a mechanism after `afterSequence` up to the head's, in order, in pages. Dies with
     * `JournalCorrupt` (`JournalCodec.ts`) at an event that is missing or unreadable: reading again will not help.
     */
    read(head: Head, afterSequence: number): Stream.Stream<ReadonlyArray<Recorded>, Unavailable>
    /** The mechanisms whose work is not over (their teardown is not completed), with their wake-ups. */
    readonly unfinished: Effect.Effect<ReadonlyArray<Head>, Unavailable>
    /** The mechanisms whose stored wake-up is at or before `at`. */
    due(at: Millis): Effect.Effect<ReadonlyArray<Head>, Unavailable>
  }
>()("usher/store/journal/Journal") {}
