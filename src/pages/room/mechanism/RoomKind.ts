/** What a kind of mechanism declares for rooms. `Kinds.ts` lists the kinds. */
import type { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Caller, ConsumerApiClient } from "../../ApiClients.ts"
import type { Refusal } from "../../Refusal.ts"
import type { PlainKey } from "../../Words.ts"
import type { Scene } from "../Scene.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import type { Leaving, LiveFacts, MechanismWithFacts, Piece } from "./Parts.ts"

export interface RoomKind<Mechanism extends MechanismWithFacts, State> {
  /** The words for the kind, and for its first action. */
  readonly name: PlainKey
  readonly action: PlainKey
  /** The operation that reads a visitor's standing. */
  readonly status: "status" | "me"
  /** Returns how the kind works, in a sentence; empty if no sentence is needed. */
  rule(scene: Scene, record: Mechanism["record"], live: LiveFacts | undefined): string
  /** Shows the mechanism to a visitor; without a state to one that has no place. */
  piece(scene: Scene, mechanism: Mechanism, state: State | undefined, options: ViewOptions): Piece
  /** Reads the facts that an experience does not list with the mechanism. Absent: it lists them all. */
  read?(listed: Mechanism["record"], reads: Reads): Read<Mechanism>
  /** Returns the fact in the line of an open mechanism, with the key of its words; undefined: no line. */
  liveFact?(live: LiveFacts): LiveFact | undefined
  /** Returns how a visitor gives its standing up; undefined while there is nothing to give up. */
  leaving?(state: State, now: Millis): Leaving | undefined
  /** Returns what happens next, in up to three sentences; none where nothing does. */
  steps(scene: Scene, mechanism: Mechanism, state: State | undefined): ReadonlyArray<string>
  /** Returns what a preview shows a visitor of the kind in, by its title for staff. */
  samples(now: Millis): Samples<State>
  /** The operations of the forms that the kind has. */
  readonly operations: { readonly [Name in FormName]?: (fields: URLSearchParams) => Operation }
}

/** Standings of a visitor that does not exist. */
export type Samples<State> = ReadonlyArray<readonly [title: string, state: State]>

/** The forms that act on a mechanism. */
export type FormName = "enter" | "leave" | "bid" | "book" | "cancel" | "reschedule" | "join"

export type LiveFact = readonly ["waitingNow" | "entriesNow" | "unitsLeft", number | null | undefined]

/** An operation on a mechanism. */
export interface Operation {
  readonly name: string
  readonly payload?: unknown
}

export type Read<A> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

/** How the facts of one mechanism are read. Visitors share them. */
export interface Reads {
  readonly api: ConsumerApiClient["Service"]
  readonly caller: Caller
  readonly share: <A>(read: Read<A>) => Read<A>
}

/** The visitor's requests beyond the place itself. */
export interface ViewOptions {
  readonly unconfirmed?: (UnconfirmedBid & { readonly at: string }) | undefined
  readonly isRescheduling?: boolean | undefined
  /** The mechanism that the visitor may be about to leave. */
  readonly leaving?: string | undefined
  /** The mechanism of the visitor's last action. A script moves the focus to its heading. */
  readonly acted?: string | undefined
}

/** A bid that the visitor has typed and not confirmed yet. */
export interface UnconfirmedBid {
  readonly amount: string
  /** The bid was refused as unusually high, and the visitor is asked once more. */
  readonly isUnlikely?: boolean
}
