/**
 * The timed transitions of a mechanism. Each kind declares its transitions once, in an ordered table. The event that is
 * due, the instant of the next wake-up and the work that a transition needs all derive from that table here.
 *
 * Transitions come in the order of the instants they are due at. At one instant they come in the order of the table.
 */
import type { Event, Moment } from "./Decider.ts"
import type { LifecycleEvent, LifecycleState } from "./Lifecycle.ts"
import type { Millis } from "../values/Time.ts"

/** One transition that time alone brings. */
export interface TimedTransition<State, E extends Event> {
  /** Returns the instant at which it is due; Infinity if it is not. O(1), because it runs several times in each batch. */
  readonly dueAt: (state: State) => Millis
  /**
   * Returns the event, dated `at`; undefined while {@link work} has not finished. Called only when the transition is due.
   * A transition that needs chance calls `entropy` and records the result in its event.
   */
  readonly make: (state: State, at: Millis, entropy: Moment["entropy"]) => E | undefined
  /**
   * Returns the instant that counts as the due one if the actor notices the transition at `now`, which is not before
   * `dueAt`. Absent: `dueAt` counts, however late the actor is.
   */
  readonly noticedAt?: (dueAt: Millis, now: Millis) => Millis
  /**
   * Works for one slice of a few milliseconds on the data that {@link make} needs. Absent if `make` needs no long
   * computation.
   */
  readonly work?: (state: State) => void
}

/** The transitions of a kind, in the order in which they come at one instant. */
export type TimedTransitions<State, E extends Event> = ReadonlyArray<TimedTransition<State, E>>

/** The fields of a state that every timed transition reads. */
interface Timed {
  /** The last event's instant; later events are never dated before it. */
  readonly lastAt: Millis
}

/** Returns the event of the earliest transition due at or before `now`; undefined if none is due, or needs more work. */
export const due = <State extends Timed, E extends Event>(
  transitions: TimedTransitions<State, E>,
  state: State,
  { now, entropy }: Moment
): E | undefined => {
  const next = nextOf(transitions, state, now)
  return next?.make(state, Math.max(state.lastAt, instantOf(next, state, now)), entropy)
}

/** Returns the instant at which the next transition is due, if nothing else happens; undefined if there is none. */
export const wakeAt = <State, E extends Event>(
  transitions: TimedTransitions<State, E>,
  state: State
): Millis | undefined => {
  let earliest = Infinity
  for (let index = 0; index < transitions.length; index++) {
    const dueAt = transitions[index]!.dueAt(state)
    if (dueAt < earliest) earliest = dueAt
  }
  return earliest === Infinity ? undefined : earliest
}

/** Works for one slice on the earliest transition due at or before `now`, if it needs work. */
export const work = <State, E extends Event>(
  transitions: TimedTransitions<State, E>,
  state: State,
  now: Millis
): void => nextOf(transitions, state, now)?.work?.(state)

const nextOf = <State, E extends Event>(
  transitions: TimedTransitions<State, E>,
  state: State,
  now: Millis
): TimedTransition<State, E> | undefined => {
  let next: TimedTransition<State, E> | undefined
  let earliest = Infinity
  for (let index = 0; index < transitions.length; index++) {
    const transition = transitions[index]!
    const dueAt = transition.dueAt(state)
    if (dueAt > now) continue
    const { noticedAt } = transition
    const instant = noticedAt === undefined ? dueAt : noticedAt(dueAt, now)
    if (instant < earliest) {
      next = transition
      earliest = instant
    }
  }
  return next
}

const instantOf = <State, E extends Event>(
  { dueAt, noticedAt }: TimedTransition<State, E>,
  state: State,
  now: Millis
): Millis => (noticedAt === undefined ? dueAt(state) : noticedAt(dueAt(state), now))

/** The closing at the time that the configuration says. */
export const closing: TimedTransition<
  LifecycleState & { readonly configuration: { readonly closeAt?: Millis | undefined } },
  Extract<LifecycleEvent, { readonly _tag: "Closed" }>
> = {
  dueAt: ({ closedAt, configuration }) => (closedAt === Infinity ? (configuration.closeAt ?? Infinity) : Infinity),
  make: (_, at) => ({ _tag: "Closed", at })
}

/** The teardown, due at once when the mechanism is closed and `isSettled` says that nothing is outstanding. */
export const teardownWhen = <State extends LifecycleState & Timed>(
  isSettled: (state: State) => boolean
): TimedTransition<State, Extract<LifecycleEvent, { readonly _tag: "TornDown" }>> => ({
  dueAt: (state) => (state.closedAt !== Infinity && !state.tornDown && isSettled(state) ? state.lastAt : Infinity),
  make: (_, at) => ({ _tag: "TornDown", at })
})
