/**
 * The shape of every mechanism: a pure state machine.
 *
 * `decide` returns what a command leads to, `due` returns what time alone leads to, and only `evolve` changes the state.
 * Everything that happens is an event. There is no clock, no randomness and no I/O here: the instant and the entropy
 * arrive as arguments. Replaying the events of a mechanism therefore gives the same state again, bit by bit.
 *
 * `evolve` changes the state in place: its actor is the only holder, and a queue can hold a million places.
 *
 * One step, as the actor runs it (`now` is never earlier than the last event):
 *
 *     while ((event = due(state, { now, … })) !== undefined) evolve(state, event)   // in time order
 *     outcome = decide(state, command, { now, … })                                  // a refusal, or events
 *     for (event of outcome) evolve(state, event)
 *
 * `work` runs before each `due`, for the transitions that take long to compute.
 *
 * Due events come first and carry the instant they were due at, so the result does not depend on when a timer fires.
 */
import type * as Schema from "effect/Schema"
import type { IndexedList } from "./IndexedList.ts"
import type { Millis } from "../values/Time.ts"
import type { UnitsReport } from "./UnitProtocol.ts"

/** Something that happened. `at` never decreases within a mechanism; `consumerId` names the consumer whose place changed. */
export interface Event {
  readonly _tag: string
  readonly at: Millis
  readonly consumerId?: string
}

/** A request for a change. A consumer's command names the consumer, and returns that consumer's view. */
export interface Command {
  readonly _tag: string
  readonly consumerId?: string
}

/** A typed refusal: the state does not allow the command, and nothing changed. */
export interface Refusal {
  readonly _tag: string
}

/** The instant, the randomness and the level of a step, from the actor. */
export interface Moment {
  readonly now: Millis
  /** Returns 16 fresh random bytes as hex. Only transitions that need chance call it, and they record it in their event. */
  readonly entropy: () => string
  /**
   * The level that the installation writes. An event, or an event's field, that came with level N is decided only from
   * level N on, so that every release that may run can read it.
   */
  readonly level: number
}

/** The phase of a mechanism; derived from time and override, never stored. */
export type Lifecycle = "scheduled" | "open" | "settling" | "closed"

/** A consumer's place as search and lists need it: a row of the `places` projection. */
export interface PlaceRow {
  readonly status: string
  readonly enteredAt: Millis
  readonly updatedAt: Millis
  /** The status's own fields, as they go out. */
  readonly fields: { readonly [name: string]: unknown }
}

/** The status fields of every mechanism. */
export interface StatusFields {
  readonly statusOverride: "ended" | null
  readonly statusOverrideAt: Millis | null
  readonly statusOverrideBy: string | null
  readonly teardownStatus: "pending" | "completed" | null
  readonly archived: boolean
}

/** A running mechanism as another process sees it. */
export interface Seen<Configuration, Facts> {
  readonly configuration: Configuration
  /** The number of places by status. */
  readonly counts: { readonly [status: string]: number }
  readonly facts: Facts
}

/**
 * The rules of one kind of mechanism.
 *
 * @typeParam Configuration what an admin sets
 * @typeParam State         everything the mechanism knows; changed only by `evolve`, except for the results of `work`
 * @typeParam View          what a consumer sees of its own place
 * @typeParam Facts         what is public about the mechanism as a whole, next to its configuration and status
 */
export interface Decider<
  Configuration,
  State,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts = undefined
> {
  /** The configuration as it is stored and sent. */
  readonly configuration: Schema.Codec<Configuration, unknown>
  /** Decodes every event ever stored: an old shape stays a member of the union and is never edited. */
  readonly event: Schema.Codec<E, unknown>
  /** The state before the first event; the first event is always `Configured`. */
  initial(): State
  /**
   * Returns the earliest transition due at or before `now`, or undefined. Its `at` is when it was due, not when it was
   * noticed. Pure. While a transition needs more {@link work}, `due` returns undefined although `wakeAt` is in the past.
   */
  due(state: State, moment: Moment): E | undefined
  /**
   * Works for one slice of a few milliseconds on the next due transition, if it takes long to compute (a drawing among a
   * million entries). The results are kept with the state, outside of what `evolve` changes. Called before each `due`.
   * Absent where a kind has no long computation.
   */
  work?(state: State, now: Millis): void
  /** Returns the command's outcome: the events it leads to (none if it changes nothing), or a refusal. */
  decide(state: State, command: C, moment: Moment): ReadonlyArray<E> | R
  /** Applies one event. Total: it accepts every stored event in every state, and never throws. */
  evolve(state: State, event: E): void
  /** Returns when `due` will next have something, if no command comes; undefined if never. May lie in the past. */
  wakeAt(state: State): Millis | undefined
  /** Returns the consumer's view of its own place at `now`, deadlines already applied. */
  view(state: State, consumerId: string, now: Millis): View
  /** Returns the mechanism's facts at `now`, deadlines already applied. The result never changes. Absent: it has none. */
  facts?(state: State, now: Millis): Facts
  /** Returns the facts of its own that an experience's live page shows. Absent: none. */
  liveFacts?(seen: Seen<Configuration, Facts>): { readonly [name: string]: unknown }
  /** Returns the facts that only staff may know, beside those of the live page. Absent: none. */
  staffFacts?(seen: Seen<Configuration, Facts>): { readonly [name: string]: unknown }
  /**
   * Returns true while the mechanism needs something done outside of it that a worker does: a draw needs a round of the
   * beacon, a waitlist its notices sent. O(1). Absent where a kind needs nothing.
   */
  needsEffect?(state: State): boolean
  /** Returns what the mechanism says of its units to its stock; undefined if it sells from none. Absent: it never does. */
  units?(state: State): UnitsReport | undefined
  /** Returns the consumer's row in the `places` projection; undefined if it never entered. */
  place(state: State, consumerId: string): PlaceRow | undefined
  configurationOf(state: State): Configuration
  /**
   * Returns the facts that belong to the mechanism's record, as JSON. They are stored next to the configuration, whenever
   * an event without a consumer is. Absent where a kind has none.
   */
  publishedFacts?(state: State): { readonly [name: string]: unknown }
  statusFields(state: State): StatusFields
  lifecycle(state: State, now: Millis): Lifecycle
  /** Returns the number of places in each status, for the live view. O(1): `evolve` keeps the numbers. */
  counts(state: State): { readonly [status: string]: number }
  /** The events that the live view's rates count as an entry and as a grant. */
  readonly rated: { readonly entries: ReadonlyArray<E["_tag"]>; readonly grants: ReadonlyArray<E["_tag"]> }
  /** Returns how many units the mechanism may still give away; Infinity: no limit. Absent: it has none. */
  unitsLeft?(state: State): number
  /** Returns the lists whose positions a view shows; other consumers' events move them. Absent where a kind shows none. */
  lines?(state: State): ReadonlyArray<Pick<IndexedList<never>, "mark" | "rewind">>
  /** The events of one consumer that can change the views of others in more than their positions in `lines`. */
  readonly farReaching?: ReadonlyArray<E["_tag"]>
  /** The events of the mechanism itself that do not change its record. */
  readonly nonRecordEvents?: ReadonlyArray<E["_tag"]>
}
