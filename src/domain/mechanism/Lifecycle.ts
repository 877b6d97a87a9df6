/**
 * The lifecycle of a mechanism, the same for every kind. It closes at its time, or an admin ends it at once. When
 * nothing is outstanding any more it is torn down, and its work is over. A mechanism's state extends {@link
 * LifecycleState}; its events contain {@link lifecycleEvents}.
 */
import { Schema } from "effect"
import { reason, reasoned, type StaffReason } from "./Author.ts"
import type { Lifecycle, StatusFields } from "./Decider.ts"
import type { Millis } from "../values/Time.ts"

export interface LifecycleState {
  /** When the mechanism closed, at its time or by an admin; Infinity: it is not closed. */
  closedAt: Millis
  endedBy: string | undefined
  endedAt: Millis
  tornDown: boolean
  archived: boolean
}

export const newLifecycle = (): LifecycleState => ({
  closedAt: Infinity,
  endedBy: undefined,
  endedAt: Infinity,
  tornDown: false,
  archived: false
})

/** The instant of an event: milliseconds since the epoch, never less than in the event before it. */
export const at = Schema.Finite

export const lifecycleEvents = {
  /** An admin closed the mechanism permanently. */
  Ended: { at, by: Schema.String, reason },
  Archived: { at, by: Schema.String },
  /** The mechanism's time to close has passed. */
  Closed: { at },
  /** Nothing is outstanding any more: the mechanism's work is over. */
  TornDown: { at }
}

export type LifecycleEvent =
  | { readonly _tag: "Ended"; readonly at: Millis; readonly by: string; readonly reason?: StaffReason }
  | { readonly _tag: "Archived"; readonly at: Millis; readonly by: string }
  | { readonly _tag: "Closed"; readonly at: Millis }
  | { readonly _tag: "TornDown"; readonly at: Millis }

/** Applies a lifecycle event. A mechanism that is closed keeps its closing. */
export const evolveLifecycle = (life: LifecycleState, event: LifecycleEvent): void => {
  switch (event._tag) {
    case "Ended":
      life.endedAt = event.at
      life.endedBy = event.by
      life.closedAt = Math.min(life.closedAt, event.at)
      return
    case "Closed":
      life.closedAt = Math.min(life.closedAt, event.at)
      return
    case "Archived":
      life.archived = true
      return
    case "TornDown":
      life.tornDown = true
  }
}

/**
 * Returns the closing as of `now`, even if its event is not recorded yet; Infinity if the mechanism is not closed.
 * `closeAt` is the scheduled closing, undefined without one.
 */
export const closedAsOf = ({ closedAt }: LifecycleState, closeAt: Millis | undefined, now: Millis): Millis =>
  closedAt !== Infinity ? closedAt : closeAt !== undefined && closeAt <= now ? closeAt : Infinity

/** Returns the event of an end by an admin; none if the mechanism is closed. */
export const end = (isClosed: boolean, by: string, at: Millis, why?: StaffReason): ReadonlyArray<LifecycleEvent> =>
  isClosed ? [] : [{ _tag: "Ended", at, by, ...reasoned(why) }]

/** Returns the events of archiving, which also ends a mechanism that is still open. */
export const archive = (
  life: LifecycleState,
  isClosed: boolean,
  by: string,
  at: Millis
): ReadonlyArray<LifecycleEvent> => (life.archived ? [] : [...end(isClosed, by, at), { _tag: "Archived", at, by }])

/** Returns the status fields of a mechanism's record. */
export const statusFields = ({ endedAt, endedBy, closedAt, tornDown, archived }: LifecycleState): StatusFields => ({
  statusOverride: endedBy === undefined ? null : "ended",
  statusOverrideAt: endedBy === undefined ? null : endedAt,
  statusOverrideBy: endedBy ?? null,
  teardownStatus: tornDown ? "completed" : closedAt === Infinity ? null : "pending",
  archived
})

/** Returns the phase, at `now`, of a mechanism with this window. */
export const lifecycle = (
  life: LifecycleState,
  { openAt, closeAt }: { readonly openAt?: Millis | undefined; readonly closeAt?: Millis | undefined },
  now: Millis
): Lifecycle => {
  if (closedAsOf(life, closeAt, now) !== Infinity) return life.tornDown ? "closed" : "settling"
  return (openAt ?? 0) > now ? "scheduled" : "open"
}
