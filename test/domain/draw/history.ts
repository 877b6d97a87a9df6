/**
 * Histories: given these events, when this command, then these events. Instants are written as seconds from `start`.
 */
import { assert } from "@effect/vitest"
import {
  type Command,
  type Configuration,
  decider,
  type DenialReason,
  type Event,
  type Refusal,
  type View
} from "../../../src/domain/Draw.ts"
import { entryIdOf } from "../../../src/domain/draw/State.ts"

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

/** A draw that is open, closes after 100 seconds and draws one winner after 200, unless the test says otherwise. */
export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Raffle",
  timeZone: "UTC",
  closeAt: at(100),
  drawAt: at(200),
  supportsGuest: true,
  winnerCount: 1,
  continueSelectingUntilCompleted: false,
  loyaltyBiasEnabled: false,
  loyaltyWeight: 1,
  ...settings
})

/** What `entropy` gives, in turn. */
export const dice = (): (() => string) => {
  let throws = 0
  return () => `${++throws}`.padStart(32, "0")
}

export const seed = "1".padStart(32, "0") + "2".padStart(32, "0")
export const salt = "3".padStart(32, "0")

/** One draw and all that happened to it. */
export class History {
  readonly state = decider.initial()
  readonly events: Array<Event> = []
  readonly #entropy = dice()

  /** What time brings until `seconds`, applied by a timer that is never late. */
  until(seconds: number): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    for (let wake = this.wake(); wake <= at(seconds); wake = this.wake()) {
      const events = this.noticed((wake - start) / 1000)
      assert.isNotEmpty(events, "the draw wakes for nothing")
      brought.push(...events)
    }
    return brought
  }

  /** What time brings until `seconds`, applied by someone who looks only then. */
  noticed(seconds: number): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    const moment = { now: at(seconds), entropy: this.#entropy }
    for (let event = decider.due(this.state, moment); event !== undefined; event = decider.due(this.state, moment)) {
      this.apply(event)
      brought.push(event)
    }
    return brought
  }

  /** When a timer that is never late fires next; Infinity if it does not. */
  wake(): number {
    return Math.max(this.state.lastAt, decider.wakeAt(this.state) ?? Infinity)
  }

  /** The command's outcome at `seconds`, applied; what time brought until then has been applied before. */
  when(seconds: number, command: Command): ReadonlyArray<Event> | Refusal {
    this.until(seconds)
    const outcome = this.unnoticed(seconds, command)
    if (isEvents(outcome)) for (const event of outcome) this.apply(event)
    return outcome
  }

  /** What the command would lead to at `seconds`, if what time brought had not been applied; not applied either. */
  unnoticed(seconds: number, command: Command): ReadonlyArray<Event> | Refusal {
    return decider.decide(this.state, command, { now: at(seconds), entropy: this.#entropy })
  }

  enter(seconds: number, ...consumerIds: ReadonlyArray<string>): void {
    for (const consumerId of consumerIds)
      assert(isEvents(this.when(seconds, enter(consumerId))), `${consumerId} is refused`)
  }

  apply(event: Event): void {
    decider.evolve(this.state, event)
    this.events.push(event)
  }

  view(seconds: number, consumerId: string): View {
    return decider.view(this.state, consumerId, at(seconds))
  }

  status(seconds: number, consumerId: string): string {
    return this.view(seconds, consumerId).status
  }

  /** The name of the consumer's entry. */
  entryId(consumerId: string): string {
    return entryIdOf(this.state, this.state.places.get(consumerId)!.entry)
  }

  /** Who has won, in the order of the wins. */
  get winners(): ReadonlyArray<string> {
    return this.events.flatMap((event) => (event._tag === "Won" ? [event.consumerId] : []))
  }
}

/** A draw so configured at `seconds`, to which these events happened. */
export const given = (
  settings: Partial<Configuration> = {},
  events: ReadonlyArray<Event> = [],
  seconds = 0
): History => {
  const history = new History()
  history.when(seconds, { _tag: "Configure", configuration: configuration(settings), by: "admin" })
  for (const event of events) history.apply(event)
  return history
}

export const enter = (consumerId: string, loyaltyScore = 0): Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: false,
  loyaltyScore
})
export const enterAsGuest = (consumerId: string): Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: true,
  loyaltyScore: 0
})
export const leave = (consumerId: string): Command => ({ _tag: "Leave", consumerId })
export const complete = (consumerId: string): Command => ({ _tag: "Complete", consumerId })
export const deny = (consumerId: string): Command => ({ _tag: "Deny", consumerId, reason: "FRAUD_DETECTED" })
export const end: Command = { _tag: "End", by: "admin" }
export const archive: Command = { _tag: "Archive", by: "admin" }
export const configure = (settings: Partial<Configuration>): Command => ({
  _tag: "Configure",
  configuration: configuration(settings),
  by: "admin"
})

export const entered = (seconds: number, consumerId: string, loyaltyScore = 0): Event => ({
  _tag: "Entered",
  at: at(seconds),
  consumerId,
  ...(loyaltyScore > 0 && { loyaltyScore })
})
export const won = (seconds: number, consumerId: string): Event => ({ _tag: "Won", at: at(seconds), consumerId })
export const drawn = (seconds: number): Event => ({ _tag: "Drawn", at: at(seconds) })
export const expired = (seconds: number, consumerId: string): Event => ({
  _tag: "Expired",
  at: at(seconds),
  consumerId
})
export const completed = (seconds: number, consumerId: string): Event => ({
  _tag: "Completed",
  at: at(seconds),
  consumerId
})
export const left = (seconds: number, consumerId: string): Event => ({ _tag: "Left", at: at(seconds), consumerId })
export const denied = (seconds: number, consumerId: string, reason: DenialReason = "FRAUD_DETECTED"): Event => ({
  _tag: "Denied",
  at: at(seconds),
  consumerId,
  reason
})
export const ended = (seconds: number): Event => ({ _tag: "Ended", at: at(seconds), by: "admin" })
export const archived = (seconds: number): Event => ({ _tag: "Archived", at: at(seconds), by: "admin" })
export const closed = (seconds: number): Event => ({ _tag: "Closed", at: at(seconds) })
export const tornDown = (seconds: number): Event => ({ _tag: "TornDown", at: at(seconds) })

/** The events without what fixes the list. */
export const withoutFixing = (events: ReadonlyArray<Event>): ReadonlyArray<Event> =>
  events.filter(({ _tag }) => _tag !== "EntriesFixed")

/** Asserts that the outcome is this refusal, with these fields. */
export const assertRefused = (
  outcome: ReadonlyArray<Event> | Refusal,
  tag: Refusal["_tag"],
  fields: { readonly [name: string]: unknown } = {}
): void => {
  assert(!isEvents(outcome), `not refused but ${JSON.stringify(outcome)}`)
  assert.strictEqual(outcome._tag, tag)
  assert.deepStrictEqual({ ...outcome, ...fields }, { ...outcome })
}

export const isEvents = (outcome: ReadonlyArray<Event> | Refusal): outcome is ReadonlyArray<Event> =>
  Array.isArray(outcome)
