/**
 * How a kind of mechanism is declared: as data ({@link KindDeclaration}), and by its rules. {@link deciderOf} derives the
 * decider from the rules and from the common part of the state.
 */
import { decideBy, type Rules } from "./Administration.ts"
import type { Command, Decider, Event, Refusal } from "./Decider.ts"
import { noteRisk, shownRisk, withRisk } from "./EntryRisk.ts"
import { lifecycle, statusFields } from "./Lifecycle.ts"
import type { SettingProblem, Windowed } from "../experience/ExperienceWindow.ts"
import type { ReportedEvents } from "./ReportedEvents.ts"
import type { MechanismState } from "./State.ts"
import * as Timed from "./Timed.ts"
import type { RegionalDefaults } from "../values/Locale.ts"
import type { Millis } from "../values/Time.ts"

/**
 * The part that the places of a status have in the mechanism: they wait, hold a grant or a booking, are there, are done,
 * or are gone without.
 */
export type Standing = "waiting" | "admitted" | "present" | "completed" | "gone"

/** What the rest of the program knows of a kind. Lists and tables of kinds follow from it; see Mechanism.ts. */
export interface KindData<Tag extends string = string, Status extends string = string> {
  /** In the names of schemas, operations and files: `Waitlist`. */
  readonly name: string
  /** In a sentence: `waitlist`. */
  readonly noun: string
  /** With its article: `a waitlist`. */
  readonly aNoun: string
  /** The path in both APIs, and the group of operations in the Admin API: plural, words joined by hyphens. */
  readonly path: string
  /** The group of operations in the Consumer API: plural, in camel case. */
  readonly group: string
  /** The path parameter of the Consumer API that names a mechanism: `waitlistId`. */
  readonly parameter: string
  /** The field of a sequence with its only mechanism of this kind. Absent: the field `group` has a list of them. */
  readonly singleField?: string
  /** Invites a consumer, in emails. */
  readonly invitation: string
  /** The statuses of places. */
  readonly statuses: { readonly [S in Status]: Standing }
  /** The events that are entries, and those that make a grant. A kind without the latter does not grant. */
  readonly entries: ReadonlyArray<Tag>
  readonly grants: ReadonlyArray<Tag>
  /** The events that webhooks report. */
  readonly reported: ReportedEvents<Tag>
  /** An organization can deny places: the kind has the command `Deny`. */
  readonly isDeniable?: true
  /** An end after the closing still denies those who wait for the outcome: the rules have `isOver`. */
  readonly isEndableClosed?: true
  /** Consumers select a variant. The events that do so have it as `variantId`, places as `selectedVariantId`. */
  readonly selectsVariant?: true
}

/** A kind as data, with its settings. */
export interface KindDeclaration<
  Configuration,
  Tag extends string = string,
  Status extends string = string
> extends KindData<Tag, Status> {
  /** Returns the values of settings that an admin leaves out, except the time zone. */
  defaults(said: Partial<Configuration>, around: RegionalDefaults): Partial<Configuration>
  /** Returns the problems between settings that are each in range. `before` is empty at the creation. */
  problems(configuration: Configuration, before: Partial<Configuration>): ReadonlyArray<SettingProblem<string>>
  /** Returns the variants that settings name. The experience must offer them. Absent: none. */
  variants?(configuration: Partial<Configuration>): ReadonlyArray<string>
  /** Returns the fields of recorded events that are hidden, given the published facts. Absent: none. */
  secrets?(published: { readonly [name: string]: unknown }): ReadonlyArray<string>
}

/** The parts of a decider that a kind declares as they are. */
type Declared =
  | "needsEffect"
  | "units"
  | "publishedFacts"
  | "rated"
  | "unitsLeft"
  | "lines"
  | "farReaching"
  | "nonRecordEvents"

/** The parts of a kind's decider that do not follow from its rules. */
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
  readonly views: Pick<
    Decider<Configuration, State, C, E, R, View, Facts>,
    "view" | "facts" | "place" | "liveFacts" | "staffFacts"
  >
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
  const { view, facts, liveFacts, staffFacts, place } = views
  const { entries } = declared.rated
  return {
    ...declared,
    ...schemas,
    initial,
    decide: (state, command, moment) => withRisk(decide(state, command, moment), command, entries),
    view,
    ...(facts !== undefined && { facts }),
    ...(liveFacts !== undefined && { liveFacts }),
    ...(staffFacts !== undefined && { staffFacts }),
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
