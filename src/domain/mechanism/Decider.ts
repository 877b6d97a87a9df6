/**
 * The shape every mechanism has.
 *
 * A mechanism is a pure state machine. `decide` says what a command leads to, `due` says what time alone leads to,
 * `evolve` is the only thing that changes the state, and everything that happened is an event. There is no clock, no
 * dice and no I/O here: the instant and the entropy arrive as arguments, so that replaying the events of a mechanism
 * gives its state again, bit by bit.
 *
 * The state is changed in place: its actor is the only holder, and a queue can hold a million places.
 *
 * One step, as the actor runs it (`now` is never earlier than the last event):
 *
 *     while ((event = due(state, { now, … })) !== undefined) evolve(state, event)   // what time brought, in time order
 *     outcome = decide(state, command, { now, … })                                  // a refusal, or events
 *     for (event of outcome) evolve(state, event)
 *
 * Because due events come first and carry the instant they were due at, the result does not depend on when a timer fires.
 */
import type * as Schema from "effect/Schema"
import type { Tenant } from "../values/Ids.ts"
import type { IndexedList } from "./IndexedList.ts"
import type { Millis } from "../values/Time.ts"

/** What happened. `at` never decreases within a mechanism; `consumerId` names the one consumer whose place changed. */
export interface Event {
  readonly _tag: string
  readonly at: Millis
  readonly consumerId?: string
}

/** What someone wants. A consumer's command names the consumer, and is answered with that consumer's view. */
export interface Command {
  readonly _tag: string
  readonly consumerId?: string
}

/** A typed no: the state does not allow the command, and nothing changed. */
export interface Refusal {
  readonly _tag: string
}

/** Time and dice, brought by the actor. */
export interface Moment {
  readonly now: Millis
  /** 16 fresh random bytes as hex; called only by transitions that need chance, which record it in their event. */
  readonly entropy: () => string
}

/** Where a mechanism stands; derived from time and override, never stored (completions 3, "Shared"). */
export type Lifecycle = "scheduled" | "open" | "settling" | "closed"

/** A consumer's standing as search and lists need it: a row of the `places` projection. */
export interface PlaceRow {
  readonly status: string
  readonly enteredAt: Millis
  readonly updatedAt: Millis
  /** The status's own fields, as they go out. */
  readonly fields: { readonly [name: string]: unknown }
}

/** The status fields every mechanism carries (interface document 2.8). */
export interface StatusFields {
  readonly statusOverride: "ended" | null
  readonly statusOverrideAt: Millis | null
  readonly statusOverrideBy: string | null
  readonly teardownStatus: "pending" | "completed" | null
  readonly archived: boolean
}

/**
 * One kind of mechanism.
 *
 * @typeParam Configuration what an admin sets
 * @typeParam State         everything the mechanism knows; changed only by `evolve`
 * @typeParam View          what a consumer sees of its own place
 * @typeParam Facts         what anyone may know of the mechanism as a whole, beside its configuration and status
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
  /** Every event ever stored, decodable for ever: an old shape is a member of the union, never an edit. */
  readonly event: Schema.Codec<E, unknown>
  /** The state before the first event; the first event is always `Configured`. */
  initial(): State
  /**
   * The earliest transition due at or before `now`, or undefined. Its `at` is when it was due, not when it was noticed.
   * One that takes long to work out (a drawing among a million) is worked out in slices of a few milliseconds, in a memo
   * beside the state: `due` then answers undefined though `wakeAt` lies in the past, and is asked again after others had
   * their turn.
   */
  due(state: State, moment: Moment): E | undefined
  /** The command's outcome: the events it leads to (none if it changes nothing), or a refusal. */
  decide(state: State, command: C, moment: Moment): ReadonlyArray<E> | R
  /** Applies one event. Total: it accepts every stored event in every state, and never throws. */
  evolve(state: State, event: E): void
  /** When `due` will next have something, if no one calls; undefined if never. May lie in the past. */
  wakeAt(state: State): Millis | undefined
  /** The consumer's view of its own place at `now`, deadlines already applied. */
  view(state: State, consumerId: string, now: Millis): View
  /** The mechanism's facts at `now`, deadlines already applied; absent where a kind has none. What it answers never changes. */
  facts?(state: State, now: Millis): Facts
  /** The consumer's row in the `places` projection; undefined if it never entered. */
  place(state: State, consumerId: string): PlaceRow | undefined
  configurationOf(state: State): Configuration
  /**
   * What has become known of the mechanism and belongs to its record, as JSON: stored beside the configuration, whenever an
   * event without a consumer is. Absent where a kind has none.
   */
  publishedFacts?(state: State): { readonly [name: string]: unknown }
  statusFields(state: State): StatusFields
  lifecycle(state: State, now: Millis): Lifecycle
  /** How many places stand in each status, for the live view; kept while evolving, not counted. */
  counts(state: State): { readonly [status: string]: number }
  /** The events that count as an entry and as a grant in the live view's rates. */
  readonly rated: { readonly entries: ReadonlyArray<E["_tag"]>; readonly grants: ReadonlyArray<E["_tag"]> }
  /** The lines whose positions a view shows: what happens to others moves them. Absent where a kind shows none. */
  lines?(state: State): ReadonlyArray<Pick<IndexedList<never>, "mark" | "rewind">>
  /** The events of a consumer that can change what others see of themselves, other than positions in `lines`. */
  readonly farReaching?: ReadonlyArray<E["_tag"]>
  /** The events of the mechanism itself that leave its record as it is, and so do not count as a change of it. */
  readonly nonRecordEvents?: ReadonlyArray<E["_tag"]>
}

/** A mechanism's unchanging identity, as stored beside its events. */
export interface MechanismIdentity extends Tenant {
  readonly id: string
  readonly kind: Kind
  readonly experienceId: string
  readonly sequenceId: string
}

/** The kinds of mechanism (`type` on `/distributions`, completions 4). */
export type Kind = "queue" | "draw" | "auction" | "appointment" | "timed_release" | "waitlist"
