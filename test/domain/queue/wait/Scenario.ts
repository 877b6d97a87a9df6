/**
 * A seeded drop played with the pure rules: who comes, who gives up, what staff do, and which range each visitor saw, at
 * its entry and at a random moment.
 */
import { decider, type Command, type Configuration, type Event } from "../../../../src/domain/queue/Queue.ts"
import type { State } from "../../../../src/domain/queue/State.ts"
import { type WaitRange, waitRangeOf } from "../../../../src/domain/queue/wait/WaitRange.ts"
import { Dice } from "../../../e2e/support/Dice.ts"
import { configuration, seed, start } from "../history.ts"

export const kinds = ["steady", "pauses", "rate changes", "no-shows", "a mass leaving", "a lobby"] as const
export type Kind = (typeof kinds)[number]

/** What a visitor saw at one moment, and when it was called. */
export interface Look extends WaitRange {
  readonly at: number
  readonly calledAt: number
  /** The call that the one number tells: position by rate. */
  readonly plainAt: number
}

export interface Played {
  readonly state: State
  readonly events: ReadonlyArray<Event>
  /** The looks of those who were called. */
  readonly looks: ReadonlyArray<Look>
}

const minute = 60_000

/** Plays the drop of a kind and a seed. */
export const play = (kind: Kind, seedNumber: number, observe?: Observer): Played =>
  new Scenario(kind, seedNumber, observe).play()

/** Sees each event, after it. */
export type Observer = (state: State, event: Event) => void

class Scenario {
  private readonly kind: Kind
  private readonly dice: Dice
  private readonly state = decider.initial()
  private readonly observe: Observer | undefined
  private readonly events: Array<Event> = []
  private readonly calls = new Map<string, number>()
  private readonly seen: Array<Omit<Look, "calledAt"> & { readonly consumerId: string }> = []
  private readonly plans: Array<{ readonly at: number; readonly run: () => void }> = []
  private readonly rate: number
  private readonly givesUp: number
  private readonly patience: number
  private readonly opening: Partial<Configuration>
  private now = start

  constructor(kind: Kind, seedNumber: number, observe?: Observer) {
    this.kind = kind
    this.observe = observe
    const habits = new Dice(seedNumber)
    this.dice = new Dice(seedNumber * 1_000)
    const about = (usual: number) => usual * (0.75 + this.dice.next() * 0.5)
    this.rate = Math.round(about(habits.pick([20, 45, 60, 90])))
    this.givesUp = about(habits.pick([0.1, 0.2, 0.35]))
    this.patience = about(habits.between(3, 12) * minute)
    this.opening = kind === "a lobby" ? { lobbyOpenAt: start, openAt: start + 10 * minute } : {}
  }

  play(): Played {
    this.configure(this.rate)
    this.planVisitors(this.rate * this.dice.between(20, 40))
    this.planStaff()
    for (const { at, run } of this.plans.toSorted((one, two) => one.at - two.at)) {
      this.now = Math.round(at)
      run()
    }
    this.now += 500 * minute
    this.wait()
    const looks = this.seen.flatMap(({ consumerId, ...look }) => {
      const calledAt = this.calls.get(consumerId)
      return calledAt === undefined ? [] : [{ ...look, calledAt }]
    })
    return { state: this.state, events: this.events, looks }
  }

  /** Most come early. Of a lobby's visitors most are there before it opens. */
  private planVisitors(people: number): void {
    const { dice } = this
    const openAt = this.opening.openAt ?? start
    for (let index = 0; index < people; index++) {
      const consumerId = `c${index}`
      const isEarly = openAt > start && dice.chance(0.7)
      const at = isEarly ? start + dice.next() * 10 * minute : openAt + dice.next() ** 2 * 40 * minute
      this.plan(at, () => {
        this.send({ _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 })
        this.look(consumerId)
      })
      if (isEarly) this.plan(openAt + dice.next() * minute, () => this.look(consumerId))
      if (dice.chance(this.givesUp)) this.planLeaving(consumerId, at - Math.log(1 - dice.next()) * this.patience)
      this.plan(Math.max(at, openAt) + dice.next() * 30 * minute, () => this.look(consumerId))
    }
    if (this.kind !== "a mass leaving") return
    const share = 0.1 + dice.next() * 0.3
    const at = start + dice.between(8, 20) * minute
    for (let index = 0; index < people; index++) {
      if (dice.chance(share)) this.planLeaving(`c${index}`, at + dice.next() * 2 * minute)
    }
  }

  private planStaff(): void {
    const { dice } = this
    const isPausing = this.kind === "pauses"
    if (!isPausing && this.kind !== "rate changes") return
    const until = start + 60 * minute
    for (let at = start + dice.between(3, 8) * minute; at < until; at += dice.between(6, 20) * minute) {
      if (isPausing) {
        this.plan(at, () => this.send({ _tag: "Pause", by: "staff" }))
        this.plan(at + dice.between(30, 180) * 1_000, () => this.send({ _tag: "Resume", by: "staff" }))
      } else {
        const rate = Math.round(this.rate * dice.pick([0.6, 0.8, 1, 1.25, 1.5]))
        this.plan(at, () => this.configure(rate))
      }
    }
  }

  private planLeaving(consumerId: string, at: number): void {
    this.plan(at, () => this.send({ _tag: "Leave", consumerId }))
  }

  private plan(at: number, run: () => void): void {
    this.plans.push({ at, run })
  }

  /** Of "no-shows" all grants expire after a minute. Grants do not move the line, so its waits are as in "steady". */
  private configure(admitRate: number): void {
    const admissionExpirationSeconds = this.kind === "no-shows" ? 60 : 600
    const settings = configuration({ admitRate, admissionExpirationSeconds, ...this.opening })
    this.send({ _tag: "Configure", configuration: settings, by: "staff" })
  }

  private send(command: Command): void {
    this.wait()
    const outcome = decider.decide(this.state, command, this.moment(this.now))
    if (Array.isArray(outcome)) for (const event of outcome as ReadonlyArray<Event>) this.apply(event)
  }

  /** What time brings until now. */
  private wait(): void {
    for (;;) {
      const wakeAt = decider.wakeAt(this.state) ?? Infinity
      const event = wakeAt > this.now ? undefined : decider.due(this.state, this.moment(wakeAt))
      if (event === undefined) return
      this.apply(event)
    }
  }

  private apply(event: Event): void {
    decider.evolve(this.state, event)
    this.events.push(event)
    if (event._tag === "Granted") this.calls.set(event.consumerId, event.at)
    this.observe?.(this.state, event)
  }

  private moment(now: number) {
    return { now: Math.max(now, this.state.lastAt), entropy: () => seed, level: 1 }
  }

  private look(consumerId: string): void {
    this.wait()
    const { state, now: at } = this
    const place = state.places.get(consumerId)
    const range = place?.status === "QUEUED" ? waitRangeOf(state, place) : undefined
    if (range === undefined) return
    const plainAt = at + Math.ceil((state.waiting.position(place!) * 60) / state.configuration.admitRate) * 1_000
    this.seen.push({ consumerId, at, plainAt, ...range })
  }
}
