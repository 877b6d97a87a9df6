/**
 * How a kind of mechanism is declared. A declaration contains what only that kind can say; {@link deciderOf} derives
 * the rest of the decider from it and from the common part of the state.
 */
import { decideBy, type Rules } from "./Administration.ts"
import type { Command, Decider, Event, Refusal } from "./Decider.ts"
import { noteRisk, shownRisk, withRisk } from "./EntryRisk.ts"
import { lifecycle, statusFields } from "./Lifecycle.ts"
import type { Windowed } from "../experience/ExperienceWindow.ts"
import type { MechanismState } from "./State.ts"
import * as Timed from "./Timed.ts"
import type { Millis } from "../values/Time.ts"

/** The parts of a decider that a kind declares as they are. */
type Declared = "needsEffect" | "publishedFacts" | "rated" | "lines" | "farReaching" | "nonRecordEvents"

/** What a kind declares. */
export interface Declaration<
  Configuration,
  State,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts
> extends Pick<Decider<Configuration, State, C, E, R, View, Facts>, Declared> {
  /** What is stored. */
  readonly schemas: Pick<Decider<Configuration, State, C, E, R, View, Facts>, "configuration" | "event">
  readonly state: {
    /** The state before the first event. */
    readonly initial: () => State
    /**
     * Applies one event; the state's `sequence` and `lastAt` are already the event's. Total: it accepts every stored
     * event in every state, and never throws.
     */
    readonly apply: (state: State, event: E) => void
  }
  /** What commands lead to. */
  readonly rules: Rules<Configuration, State, C, E, R>
  /** What time alone brings. */
  readonly timed: Timed.TimedTransitions<State, E>
  /** What consumers and admins see. */
  readonly views: Pick<Decider<Configuration, State, C, E, R, View, Facts>, "view" | "facts" | "place">
}

/** Returns the decider of a declaration. */
export const deciderOf = <
  Configuration extends Windowed,
  State extends MechanismState<Configuration>,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts = undefined
>({
  schemas,
  state: { initial, apply },
  rules,
  timed,
  views: { view, facts, place },
  ...declared
}: Declaration<Configuration, State, C, E, R, View, Facts>): Decider<Configuration, State, C, E, R, View, Facts> => {
  const decide = decideBy(rules)
  const { entries } = declared.rated
  return {
    ...declared,
    ...schemas,
    initial,
    decide: (state, command, moment) => withRisk(decide(state, command, moment), command, entries),
    view,
    ...(facts !== undefined && { facts }),
    place: (state, consumerId) => shownRisk(state, consumerId, place(state, consumerId)),
    due: (state, moment) => Timed.due(timed, state, moment),
    ...(timed.some(({ work }) => work !== undefined) && {
      work: (state: State, now: Millis) => Timed.work(timed, state, now)
    }),
    wakeAt: (state) => Timed.wakeAt(timed, state),
    evolve: (state, event) => {
      state.sequence++
      state.lastAt = Math.max(state.lastAt, event.at)
      noteRisk(state, event, entries)
      apply(state, event)
    },
    configurationOf: (state) => state.configured,
    statusFields,
    lifecycle: (state, now) => lifecycle(state, state.configuration, now),
    counts: (state) => ({ ...state.counts })
  }
}
