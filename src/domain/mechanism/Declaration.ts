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

/** The declaration of a kind. */
export interface Declaration<
  Configuration,
  State,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts
> extends Pick<Decider<Configuration, State, C, E, R, View, Facts>, Declared> {
  /** Stored data. */
  readonly schemas: Pick<Decider<Configuration, State, C, E, R, View, Facts>, "configuration" | "event">
}

/** What happens in a kind, and what is seen of it. */
interface Parts<Configuration, State, C extends Command, E extends Event, R extends Refusal, View, Facts> {
  /** The state before the first event. */
  readonly initial: () => State
  /**
   * Applies one event; the state's `sequence` and `lastAt` are already the event's. Total: it accepts every stored event
   * in every state, and never throws.
   */
  readonly apply: (state: State, event: E) => void
  /** Commands and their results. */
  readonly rules: Rules<Configuration, State, C, E, R>
  /** Timed transitions. */
  readonly timed: Timed.TimedTransitions<State, E>
  /** Views for consumers and admins. */
  readonly views: Pick<Decider<Configuration, State, C, E, R, View, Facts>, "view" | "facts" | "place">
}

/** Returns the decider of a kind from its parts and its declaration. */
export const deciderOf = <
  Configuration extends Windowed,
  State extends MechanismState<Configuration>,
  C extends Command,
  E extends Event,
  R extends Refusal,
  View,
  Facts = undefined
>(
  { initial, apply, rules, timed, views }: Parts<Configuration, State, C, E, R, View, Facts>,
  { schemas, ...declared }: Declaration<Configuration, State, C, E, R, View, Facts>
): Decider<Configuration, State, C, E, R, View, Facts> => {
  const decide = decideBy(rules)
  const { view, facts, place } = views
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
