/**
 * How a kind of mechanism is declared. A declaration contains what only that kind can say; {@link deciderOf} derives
 * the rest of the decider from it and from the common part of the state.
 */
import type { Command, Decider, Event, Refusal } from "./Decider.ts"
import { lifecycle, statusFields } from "./Lifecycle.ts"
import type { MechanismState } from "./State.ts"
import * as Timed from "./Timed.ts"
import type { Millis } from "../values/Time.ts"

/** The opening and the closing of a configuration. */
interface Window {
  readonly openAt?: Millis | undefined
  readonly closeAt?: Millis | undefined
}

/** The parts of a decider that follow from the rest of a declaration. */
type Derived = "due" | "work" | "wakeAt" | "evolve" | "configurationOf" | "statusFields" | "lifecycle" | "counts"

/** What a kind declares. */
export interface Declaration<
  Configuration,
  State,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts
> extends Omit<Decider<Configuration, State, C, E, R, View, Facts>, Derived> {
  /** What time alone brings. */
  readonly timed: Timed.TimedTransitions<State, E>
  /**
   * Applies one event; the state's `sequence` and `lastAt` are already the event's. Total: it accepts every stored
   * event in every state, and never throws.
   */
  readonly apply: (state: State, event: E) => void
}

/** Returns the decider of a declaration. */
export const deciderOf = <
  Configuration extends Window,
  State extends MechanismState<Configuration>,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts = undefined
>({
  timed,
  apply,
  ...declared
}: Declaration<Configuration, State, C, E, R, View, Facts>): Decider<Configuration, State, C, E, R, View, Facts> => ({
  ...declared,
  due: (state, moment) => Timed.due(timed, state, moment),
  ...(timed.some(({ work }) => work !== undefined) && {
    work: (state: State, now: Millis) => Timed.work(timed, state, now)
  }),
  wakeAt: (state) => Timed.wakeAt(timed, state),
  evolve: (state, event) => {
    state.sequence++
    state.lastAt = Math.max(state.lastAt, event.at)
    apply(state, event)
  },
  configurationOf: (state) => state.configured,
  statusFields,
  lifecycle: (state, now) => lifecycle(state, state.configuration, now),
  counts: (state) => ({ ...state.counts })
})
