/**
 * Runs a journal through the rules again, event by event: each event must be what time alone brings, or what one command
 * leads to. Any other event is a difference, because the rules that decided it are no longer those of this release, or
 * because the journal was altered.
 *
 * A transition that was due before a command must be recorded before it, except where a batch had more of them than fit.
 * Of a draw this is not known, because its long computations take their time.
 */
import type { Event, Moment } from "../../domain/mechanism/Decider.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { type AnyDecider, dueEventsMax } from "../actor/Batch.ts"
import { type AnyEvent, type Attempt, attemptsAt, type Known } from "./Commands.ts"

/** A command of the journal, and the sequence of its first event. */
export interface Step extends Attempt {
  readonly sequence: number
  /** The status of the consumer's place before the command. */
  readonly status: string
}

/** The first event that the rules do not lead to. */
export interface Difference {
  readonly sequence: number
  readonly recorded: string
  /** What the rules lead to instead. */
  readonly expected: string
}

export interface Replayed {
  /** The events that the rules lead to again: all, if there is no difference. */
  readonly events: number
  readonly steps: ReadonlyArray<Step>
  readonly difference: Difference | undefined
}

/** Replays the events of a journal, from its first on. `level` is the level of the journal's events. */
export const replay = (decider: AnyDecider, events: ReadonlyArray<Event>, level: number): Replayed =>
  new Replay(decider, events as ReadonlyArray<AnyEvent>, level).run()

/** After every instant of a journal. */
const farFuture = 8_000_000_000_000_000

/** Slices that one transition may take. A slice has thousands of steps. */
const slicesMax = 100_000

/** Returns the transition that is due, after the work that it needs. */
export const dueAfterWork = (decider: AnyDecider, state: unknown, moment: Moment): AnyEvent | undefined => {
  for (let slice = 0; slice < slicesMax; slice++) {
    decider.work?.(state, moment.now)
    const event = decider.due(state, moment) as AnyEvent | undefined
    const isWorking = decider.work !== undefined && (decider.wakeAt(state) ?? Infinity) <= moment.now
    if (event !== undefined || !isWorking) return event
  }
  return undefined
}

/** Whether two values are the same. A key without a value is an absent key. */
export const isSame = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  const [left, right] = [a as { [key: string]: unknown }, b as { [key: string]: unknown }]
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => isSame(left[key], right[key]))
}

class Replay {
  readonly #decider: AnyDecider
  readonly #events: ReadonlyArray<AnyEvent>
  readonly #level: number
  readonly #state: unknown
  readonly #steps: Array<Step> = []
  #index = 0
  #lastExtended = ""
  /** The instant of the last command. */
  #lastNow = -Infinity
  /** The transitions since the last command of another instant. */
  #timed = 0

  constructor(decider: AnyDecider, events: ReadonlyArray<AnyEvent>, level: number) {
    this.#decider = decider
    this.#events = events
    this.#level = level
    this.#state = decider.initial()
  }

  run(): Replayed {
    while (this.#index < this.#events.length) {
      if (this.#takeTimed()) continue
      const difference = this.#takeCommand()
      if (difference !== undefined) return this.#result(difference)
    }
    return this.#result(undefined)
  }

  #result(difference: Difference | undefined): Replayed {
    return { events: this.#index, steps: this.#steps, difference }
  }

  #moment(now: Millis, entropy: ReadonlyArray<string>): Moment {
    let next = 0
    return { now, level: this.#level, entropy: () => entropy[next++] ?? "0".repeat(32) }
  }

  #due(now: Millis, entropy: ReadonlyArray<string>): AnyEvent | undefined {
    return dueAfterWork(this.#decider, this.#state, this.#moment(now, entropy))
  }

  /**
   * Takes the event if time brings it. The actor can have noticed it later, when a transition that counts from then was
   * no longer before it.
   */
  #takeTimed(): boolean {
    const event = this.#events[this.#index]!
    const entropy = typeof event.seed === "string" ? [event.seed] : []
    if (![event.at, farFuture].some((now) => isSame(this.#due(now, entropy), event))) return false
    this.#apply([event])
    this.#timed += 1
    return true
  }

  /** Takes the events of the first attempt that leads to them. Returns the difference if none does. */
  #takeCommand(): Difference | undefined {
    const { consumerId, at } = this.#events[this.#index]!
    const status = consumerId === undefined ? "" : this.#view(consumerId, at).status
    let expected: string | undefined
    for (const attempt of attemptsAt(this.#events, this.#index, this.#known(at))) {
      const outcome = this.#decide(attempt)
      if ("_tag" in outcome) {
        expected ??= `a refusal of ${attempt.command._tag}, ${outcome._tag}`
        continue
      }
      expected ??= outcome.length === 0 ? `no event for ${attempt.command._tag}` : this.#firstDiffering(outcome)
      const isFitting = outcome.length > 0 && outcome.every((one, n) => isSame(one, this.#events[this.#index + n]))
      if (!isFitting) continue
      const missed = this.#missedBefore(attempt.now)
      if (missed !== undefined) return this.#difference(inWords(missed))
      this.#steps.push({ ...attempt, sequence: this.#index + 1, status: String(status) })
      this.#apply(outcome)
      return undefined
    }
    const due = this.#due(at, [])
    return this.#difference(due === undefined ? (expected ?? "no such event at this time") : inWords(due))
  }

  #decide({ command, now, entropy }: Attempt): ReadonlyArray<AnyEvent> | { readonly _tag: string } {
    return this.#decider.decide(this.#state, command, this.#moment(now, entropy))
  }

  /**
   * Returns a transition that should be recorded before a command at `now`. The commands of one batch have one instant,
   * and nothing comes between them.
   */
  #missedBefore(now: Millis): AnyEvent | undefined {
    const isBatchFull = this.#timed >= dueEventsMax
    if (now === this.#lastNow) return undefined
    this.#lastNow = now
    this.#timed = 0
    return isBatchFull || this.#decider.work !== undefined ? undefined : this.#due(now, [])
  }

  #firstDiffering(outcome: ReadonlyArray<AnyEvent>): string {
    const differing = outcome.findIndex((one, n) => !isSame(one, this.#events[this.#index + n]))
    return inWords(outcome[Math.max(0, differing)]!)
  }

  #difference(expected: string): Difference {
    return { sequence: this.#index + 1, recorded: inWords(this.#events[this.#index]!), expected }
  }

  #known(at: Millis): Known {
    return {
      configuration: this.#decider.configurationOf(this.#state),
      view: (consumerId) => this.#view(consumerId, at),
      lastExtended: this.#lastExtended
    }
  }

  #view(consumerId: string, at: Millis): { readonly [field: string]: unknown } {
    return this.#decider.view(this.#state, consumerId, at)
  }

  #apply(events: ReadonlyArray<AnyEvent>): void {
    for (const event of events) {
      this.#decider.evolve(this.#state, event)
      if (event._tag === "GrantExtended") this.#lastExtended = event.consumerId!
    }
    this.#index += events.length
  }
}

/** Returns an event as text: `Granted of … at …, by "admin"`. */
export const inWords = ({ _tag, at, consumerId, ...fields }: AnyEvent): string => {
  const who = consumerId === undefined ? "" : ` of ${consumerId}`
  const others = Object.entries(fields).filter(([, value]) => value !== undefined)
  const shown = others.map(([name, value]) => `${name} ${secret.has(name) ? "(secret)" : JSON.stringify(value)}`)
  return [`${_tag}${who} at ${toText(at)}`, ...shown].join(", ")
}

/** The fields of events that are not shown. */
const secret: ReadonlySet<string> = new Set(["seed", "salt", "handleSalt", "confirmationCode"])
