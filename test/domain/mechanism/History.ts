/**
 * Histories of one mechanism, without I/O: given these events, when this command, then these events. A kind's own
 * `history.ts` says in which unit its instants are written, and how its commands and events are made.
 */
import { assert } from "@effect/vitest"
import type { Moment } from "../../../src/domain/mechanism/Decider.ts"

/** What of a kind's decider a history needs. */
interface Rules<State, Command, Event, Refusal, View> {
  initial(): State
  due(state: State, moment: Moment): Event | undefined
  work?(state: State, now: number): void
  decide(state: State, command: Command, moment: Moment): ReadonlyArray<Event> | Refusal
  evolve(state: State, event: Event): void
  wakeAt(state: State): number | undefined
  view(state: State, consumerId: string, now: number): View
}

/** How a kind's histories are told. */
export interface Telling {
  /** What begins at 0. */
  readonly start: number
  readonly unitMillis: number
  /** What chance brings. */
  readonly entropy: () => string
}

/** For kinds that leave nothing to chance. */
export const noEntropy = (): string => assert.fail("nothing here is left to chance")

/** One mechanism and all that happened to it. Instants are in units from the start. */
export class History<State extends { readonly lastAt: number }, Command, Event, Refusal, View> {
  readonly state: State
  readonly events: Array<Event> = []
  readonly #rules: Rules<State, Command, Event, Refusal, View>
  readonly #telling: Telling

  constructor(rules: Rules<State, Command, Event, Refusal, View>, telling: Telling) {
    this.#rules = rules
    this.#telling = telling
    this.state = rules.initial()
  }

  /** What time brings until then, applied by a timer that is never late. */
  until(instant: number): ReadonlyArray<Event> {
    const { start, unitMillis } = this.#telling
    const brought: Array<Event> = []
    for (let wake = this.wake(); wake <= this.#at(instant); wake = this.wake()) {
      const events = this.noticed((wake - start) / unitMillis)
      assert.isNotEmpty(events, "it wakes for nothing")
      brought.push(...events)
    }
    return brought
  }

  /** What time brings until then, applied by someone who looks only then. */
  noticed(instant: number): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    const moment = this.#moment(instant)
    for (let event = this.#next(moment); event !== undefined; event = this.#next(moment)) {
      this.apply(event)
      brought.push(event)
    }
    return brought
  }

  /** When a timer that is never late fires next; Infinity if it does not. */
  wake(): number {
    return Math.max(this.state.lastAt, this.#rules.wakeAt(this.state) ?? Infinity)
  }

  /** The command's outcome, applied; what time brought until then has been applied before. */
  when(instant: number, command: Command): ReadonlyArray<Event> | Refusal {
    this.until(instant)
    const outcome = this.unnoticed(instant, command)
    if (isEvents(outcome)) for (const event of outcome) this.apply(event)
    return outcome
  }

  /** What the command would lead to, if what time brought had not been applied; not applied either. */
  unnoticed(instant: number, command: Command): ReadonlyArray<Event> | Refusal {
    return this.#rules.decide(this.state, command, this.#moment(instant))
  }

  apply(event: Event): void {
    this.#rules.evolve(this.state, event)
    this.events.push(event)
  }

  view(instant: number, consumerId: string): View {
    return this.#rules.view(this.state, consumerId, this.#at(instant))
  }

  /** The next due event, after a slice of work. */
  #next(moment: Moment): Event | undefined {
    this.#rules.work?.(this.state, moment.now)
    return this.#rules.due(this.state, moment)
  }

  #at(instant: number): number {
    return Math.round(this.#telling.start + instant * this.#telling.unitMillis)
  }

  #moment(instant: number): Moment {
    return { now: this.#at(instant), entropy: this.#telling.entropy }
  }
}

export const isEvents = <Event, Refusal>(outcome: ReadonlyArray<Event> | Refusal): outcome is ReadonlyArray<Event> =>
  Array.isArray(outcome)

/** Asserts that the outcome is events, and gives them. */
export const accepted = <Event, Refusal extends { readonly _tag: string }>(
  outcome: ReadonlyArray<Event> | Refusal
): ReadonlyArray<Event> => (isEvents(outcome) ? outcome : assert.fail(`refused: ${outcome._tag}`))

/** Asserts that the outcome is this refusal, with these fields and no others. */
export const assertRefused = <Event, Refusal extends { readonly _tag: string }>(
  outcome: ReadonlyArray<Event> | Refusal,
  tag: Refusal["_tag"],
  fields: { readonly [name: string]: unknown } = {}
): void => {
  assert(!isEvents(outcome), `not refused but ${JSON.stringify(outcome)}`)
  assert.deepStrictEqual<object>({ ...outcome }, { _tag: tag, ...fields })
}

/** An outcome as plain data: the events, or the refusal's name and fields. */
export const outcomeOf = <Event, Refusal extends { readonly _tag: string }>(
  outcome: ReadonlyArray<Event> | Refusal
): unknown => {
  if (isEvents(outcome)) return outcome
  const { _tag, ...fields } = outcome
  return { refused: _tag, ...fields }
}

/** What of a kind's decider can be asked about a state. */
interface Asked<State> {
  view(state: State, consumerId: string, now: number): unknown
  place(state: State, consumerId: string): unknown
  counts(state: State): unknown
  lifecycle(state: State, now: number): unknown
  statusFields(state: State): unknown
  configurationOf(state: State): unknown
  wakeAt(state: State): unknown
}

/** Everything that can be asked of a mechanism of any kind, for these consumers. */
export const askedOf = <State>(
  decider: Asked<State>,
  state: State,
  consumerIds: ReadonlyArray<string>,
  now: number
) => ({
  views: consumerIds.map((consumerId) => decider.view(state, consumerId, now)),
  rows: consumerIds.map((consumerId) => decider.place(state, consumerId)),
  counts: decider.counts(state),
  lifecycle: decider.lifecycle(state, now),
  statusFields: decider.statusFields(state),
  configuration: decider.configurationOf(state),
  wakeAt: decider.wakeAt(state)
})
