/**
 * Plays a journal with other settings. Everybody comes when they came, and gives up waiting when they did; staff do what
 * they did. What follows a grant (its use, its return, or nothing) is drawn from what people did with their grants, with
 * a seed. So equal seeds lead to equal journals.
 *
 * The journal has no attempts that were refused. So more units find only those who had entered.
 */
import type { Event, Moment } from "../../domain/mechanism/Decider.ts"
import { timeOfRound } from "../../domain/draw/proof/Beacon.ts"
import { declarations, deciders, type Kind } from "../../domain/mechanism/Mechanism.ts"
import { standingOf } from "../../domain/mechanism/PlaceFields.ts"
import { sha256, sha256OfHex } from "../../domain/values/Digest.ts"
import { below, type Random32, seededRandom } from "../../domain/values/SeededRandom.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { AnyDecider } from "../actor/Batch.ts"
import type { AnyCommand, AnyEvent } from "./Commands.ts"
import { type Changes, withChanges } from "./Settings.ts"
import { dueAfterWork, type Step } from "./Unchanged.ts"

/** What a consumer did with a grant, from its making on. */
type Behaviour = ReadonlyArray<{ readonly after: Millis; readonly tag: "Complete" | "Leave" | "Renew" }>

/** A command that is to come. */
interface Pending {
  readonly at: Millis
  readonly command: AnyCommand
  readonly entropy: ReadonlyArray<string>
  /** The grant that the command is about. The command is dropped if the consumer has another one, or none. */
  readonly grant?: number
  /** The command gives up waiting. It is dropped if the consumer does not wait. */
  readonly isGivingUp?: boolean
}

/** How long the changed drop may go on after the last recorded event. */
const horizonMillis = 366 * 86_400_000

/** Returns the events that the recorded steps lead to with the changes. */
export const playChanged = (
  kind: Kind,
  events: ReadonlyArray<Event>,
  steps: ReadonlyArray<Step>,
  changes: Changes,
  seed: number
): ReadonlyArray<Event> => new Play(kind, events as ReadonlyArray<AnyEvent>, steps, changes, seed).run()

const acts: { readonly [tag: string]: Behaviour[number]["tag"] } = {
  Completed: "Complete",
  Left: "Leave",
  Renewed: "Renew"
}

/** Returns what people did with their grants. A grant that staff took away, or that is still held, tells nothing. */
export const behaviours = (kind: Kind, events: ReadonlyArray<AnyEvent>): ReadonlyArray<Behaviour> => {
  const grants: ReadonlyArray<string> = declarations[kind].grants
  const found: Array<Behaviour> = []
  const held = new Map<string, { readonly at: Millis; readonly acts: Array<Behaviour[number]> }>()
  for (const { _tag, at, consumerId } of events) {
    if (consumerId === undefined) continue
    if (grants.includes(_tag)) held.set(consumerId, { at, acts: [] })
    const grant = held.get(consumerId)
    if (grant === undefined) continue
    const act = acts[_tag]
    if (act !== undefined) grant.acts.push({ after: at - grant.at, tag: act })
    if (_tag === "Completed" || _tag === "Left" || _tag === "Expired") found.push(grant.acts)
    if (_tag === "Completed" || _tag === "Left" || _tag === "Expired" || _tag === "Denied") held.delete(consumerId)
  }
  return found
}

class Play {
  readonly #kind: Kind
  readonly #decider: AnyDecider
  readonly #state: unknown
  readonly #recorded: ReadonlyArray<AnyEvent>
  readonly #steps: ReadonlyArray<Pending>
  readonly #behaviours: ReadonlyArray<Behaviour>
  readonly #grantTags: ReadonlyArray<string>
  readonly #random: Random32
  readonly #seed: number
  readonly #events: Array<AnyEvent> = []
  /** Later than the steps, the last one first. */
  readonly #followUps: Array<Pending> = []
  readonly #openings: Array<string>
  #next = 0
  #now = 0
  #randomValues = 0

  constructor(kind: Kind, events: ReadonlyArray<AnyEvent>, steps: ReadonlyArray<Step>, changes: Changes, seed: number) {
    this.#kind = kind
    this.#decider = deciders[kind]
    this.#state = this.#decider.initial()
    this.#recorded = events
    this.#grantTags = declarations[kind].grants
    this.#behaviours = behaviours(kind, events)
    this.#steps = steps.flatMap((step) => this.#kept(step, changes))
    this.#openings = events.flatMap(({ _tag, seed }) => (_tag === "Opened" ? [String(seed)] : []))
    this.#seed = seed
    this.#random = seededRandom(sha256(`replay ${seed}`).slice(0, 32))
  }

  run(): ReadonlyArray<Event> {
    const end = (this.#recorded[this.#recorded.length - 1]?.at ?? 0) + horizonMillis
    for (;;) {
      const pending = this.#earliest()
      const wakeAt = this.#decider.wakeAt(this.#state) ?? Infinity
      if (wakeAt <= Math.min(pending?.at ?? Infinity, end) && this.#takeDue(wakeAt)) continue
      if (pending === undefined) return this.#events
      this.#take(pending)
    }
  }

  /** Returns a step as it is played: with the changes, or not at all if it follows a grant. */
  #kept({ command, now, entropy, status, sequence }: Step, changes: Changes): ReadonlyArray<Pending> {
    const kept = { at: now, command, entropy }
    if (command._tag === "Configure") {
      const configuration = withChanges(command["configuration"] as { readonly [setting: string]: unknown }, changes)
      return [{ ...kept, command: { ...command, configuration } }]
    }
    if (command._tag === "ProvideBeacon" || this.#recorded[sequence - 1]!._tag === "Selected") return []
    const isWaiting = standingOf(this.#kind, status) === "waiting"
    const isAct = ["Complete", "Renew"].includes(command._tag) || (command._tag === "Leave" && !isWaiting)
    if (isAct && this.#grantTags.length > 0) return []
    return [command._tag === "Leave" ? { ...kept, isGivingUp: true } : kept]
  }

  #earliest(): Pending | undefined {
    const [step, followUp] = [this.#steps[this.#next], this.#followUps[this.#followUps.length - 1]]
    return step !== undefined && step.at <= (followUp?.at ?? Infinity) ? step : followUp
  }

  #take(pending: Pending): void {
    if (pending === this.#steps[this.#next]) this.#next++
    else this.#followUps.pop()
    this.#now = Math.max(this.#now, pending.at)
    const { command, entropy, grant, isGivingUp } = pending
    if (command.consumerId !== undefined) {
      const { status, grantSequence } = this.#view(command.consumerId)
      if (grant !== undefined && grantSequence !== grant) return
      if (isGivingUp === true && standingOf(this.#kind, String(status)) !== "waiting") return
    }
    let used = 0
    const outcome = this.#decider.decide(
      this.#state,
      command,
      this.#moment(() => entropy[used++])
    )
    if (Array.isArray(outcome)) for (const event of outcome) this.#apply(event)
  }

  #takeDue(wakeAt: Millis): boolean {
    this.#now = Math.max(this.#now, wakeAt)
    const event = dueAfterWork(
      this.#decider,
      this.#state,
      this.#moment(() => this.#openings.shift())
    )
    if (event !== undefined) this.#apply(event)
    return event !== undefined
  }

  #moment(recorded: () => string | undefined): Moment {
    return {
      now: this.#now,
      level: 1,
      entropy: () => recorded() ?? sha256(`replay ${this.#seed} ${this.#randomValues++}`).slice(0, 32)
    }
  }

  #view(consumerId: string): { readonly [field: string]: unknown } {
    return this.#decider.view(this.#state, consumerId, this.#now)
  }

  #apply(event: AnyEvent): void {
    this.#decider.evolve(this.#state, event)
    this.#events.push(event)
    if (event.consumerId !== undefined && this.#grantTags.includes(event._tag)) this.#grant(event.consumerId, event.at)
    if (event._tag === "EntriesFixed" && typeof event.beaconRound === "number") this.#provide(event.beaconRound)
  }

  /** Draws what the consumer does with its new grant. */
  #grant(consumerId: string, at: Millis): void {
    if (this.#behaviours.length === 0) return
    const behaviour = this.#behaviours[below(this.#random, this.#behaviours.length)]!
    const grant = this.#view(consumerId)["grantSequence"]
    if (typeof grant !== "number") return
    for (const { after, tag } of behaviour) {
      const named = tag === "Leave" ? {} : { grantSequence: grant }
      const by = tag === "Complete" ? { by: "replay" } : {}
      this.#schedule({ at: at + after, command: { _tag: tag, consumerId, ...named, ...by }, entropy: [], grant })
    }
  }

  /** The recorded round of the beacon, or a simulated one if the draw now waits for another. */
  #provide(round: number): void {
    const recorded = this.#recorded.find((event) => event._tag === "BeaconProvided" && event.round === round)
    const signature = sha256(`replay ${this.#seed} beacon ${round}`)
    const { at, ...said } = recorded ?? { at: timeOfRound(round), randomness: sha256OfHex(signature), signature }
    const { randomness, signature: signed } = said
    const command = { _tag: "ProvideBeacon", round, randomness, signature: signed }
    this.#schedule({ at, command, entropy: [] })
  }

  /** Keeps the commands in order; of two at one instant the first scheduled comes first. */
  #schedule(pending: Pending): void {
    let [low, high] = [0, this.#followUps.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#followUps[middle]!.at > pending.at) low = middle + 1
      else high = middle
    }
    this.#followUps.splice(low, 0, pending)
  }
}
