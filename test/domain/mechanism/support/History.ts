/**
 * Histories of one mechanism, without I/O: given these events, when this command, then these events. A kind's own
 * `history.ts` defines the unit of its instants, and creates its commands and events.
 */
import { assert } from "@effect/vitest"
import type { Moment } from "../../../../src/domain/mechanism/Decider.ts"

/** The part of a kind's decider that a history uses. */
interface Rules<State, Command, Event, Refusal, View> {
  initial(): State
  due(state: State, moment: Moment): Event | undefined
  work?(state: State, now: number): void
  decide(state: State, command: Command, moment: Moment): ReadonlyArray<Event> | Refusal
  evolve(state: State, event: Event): void
  wakeAt(state: State): number | undefined
  view(state: State, consumerId: string, now: number): View
}

/** The conventions of a kind's histories. */
export interface Telling {
  /** The instant 0, in milliseconds since the epoch. */
  readonly start: number
  readonly unitMillis: number
  /** The source of randomness. */
  readonly entropy: () => string
}

/** For kinds that need no randomness. */
export const noEntropy = (): string => assert.fail("nothing here is left to chance")

/** One mechanism and its events. Instants are in units from the start. */
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

  /** Applies the transitions due until then, as a timer that is never late does. */
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

  /** Applies the transitions due until then, as an actor that checks only then does. */
  noticed(instant: number): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    const moment = this.#moment(instant)
    for (let event = this.#next(moment); event !== undefined; event = this.#next(moment)) {
      this.apply(event)
      brought.push(event)
    }
    return brought
  }

  /** Returns when a timer that is never late fires next; Infinity if it does not. */
  wake(): number {
    return Math.max(this.state.lastAt, this.#rules.wakeAt(this.state) ?? Infinity)
  }

  /** Applies the command and returns its outcome. Applies the transitions due until then first. */
  when(instant: number, command: Command): ReadonlyArray<Event> | Refusal {
    this.until(instant)
    const outcome = this.decided(instant, command)
    if (isEvents(outcome)) for (const event of outcome) this.apply(event)
    return withoutGrants(outcome)
  }

  /** Returns the command's outcome without the transitions due until then. Applies nothing. */
  unnoticed(instant: number, command: Command): ReadonlyArray<Event> | Refusal {
    return withoutGrants(this.decided(instant, command))
  }

  /** Returns the command's outcome as it is recorded. Applies nothing. */
  decided(instant: number, command: Command): ReadonlyArray<Event> | Refusal {
    return this.#rules.decide(this.state, command, this.#moment(instant))
  }

  apply(event: Event): void {
    this.#rules.evolve(this.state, event)
    this.events.push(event)
  }

  view(instant: number, consumerId: string): View {
    return this.#rules.view(this.state, consumerId, this.#at(instant))
  }

  /** Returns the next due event, after a slice of work. */
  #next(moment: Moment): Event | undefined {
    this.#rules.work?.(this.state, moment.now)
    return this.#rules.due(this.state, moment)
  }

  #at(instant: number): number {
    return Math.round(this.#telling.start + instant * this.#telling.unitMillis)
  }

  #moment(instant: number): Moment {
    return { now: this.#at(instant), entropy: this.#telling.entropy, level: 1 }
  }
}

/**
 * Returns the outcome without the grants that its events name. {@link History.events} has them, and
 * `assertGrantsNamed` checks them in every history of random commands.
 */
const withoutGrants = <Event, Refusal>(outcome: ReadonlyArray<Event> | Refusal): ReadonlyArray<Event> | Refusal =>
  isEvents(outcome)
    ? outcome.map((event) => {
        const { grant: _, ...rest } = event as Event & { readonly grant?: unknown }
        return rest as Event
      })
    : outcome

export const isEvents = <Event, Refusal>(outcome: ReadonlyArray<Event> | Refusal): outcome is ReadonlyArray<Event> =>
  Array.isArray(outcome)

/** Asserts that the outcome is events, and returns them. */
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

/** Returns an outcome as plain data: the events, or the refusal's name and fields. */
export const outcomeOf = <Event, Refusal extends { readonly _tag: string }>(
  outcome: ReadonlyArray<Event> | Refusal
): unknown => {
  if (isEvents(outcome)) return outcome
  const { _tag, ...fields } = outcome
  return { refused: _tag, ...fields }
}

/** The part of a kind's decider that reads a state. */
interface Asked<State> {
  view(state: State, consumerId: string, now: number): unknown
  place(state: State, consumerId: string): unknown
  counts(state: State): unknown
  lifecycle(state: State, now: number): unknown
  statusFields(state: State): unknown
  configurationOf(state: State): unknown
  wakeAt(state: State): unknown
}

/** Returns every answer that a mechanism of any kind gives about these consumers. */
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
