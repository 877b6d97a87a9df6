/**
 * A drop in which several mechanisms sell from one stock, with a worker that carries what they say to each other.
 * Everything is decided by the real rules. The journals are read by a naive reference, which knows everything at once.
 */
import { assert } from "@effect/vitest"
import type { Command, Event } from "../../../src/domain/mechanism/Decider.ts"
import { deciders } from "../../../src/domain/mechanism/Mechanism.ts"
import type { SettleUnits, Transfer, UnitsReport } from "../../../src/domain/mechanism/UnitProtocol.ts"
import type { Taker } from "../../../src/domain/stock/Configuration.ts"
import { asked, decider as stockDecider, type Facts, mayReturnTo, type State } from "../../../src/domain/stock/Stock.ts"
import { seededRandom } from "../../../src/domain/values/SeededRandom.ts"
import { type AnyDecider, runBatch } from "../../../src/engine/actor/Batch.ts"
import { configuration as drawOf } from "../draw/history.ts"
import { configuration as queueOf } from "../queue/history.ts"
import { configuration as releaseOf } from "../timedRelease/history.ts"
import { configuration as waitlistOf } from "../waitlist/history.ts"
import { at, configuration as stockOf, start, stockId } from "./history.ts"

/** The mechanisms of a drop, by name. */
export const names = ["draw", "queue", "release", "second", "waitlist"] as const
export type Name = (typeof names)[number]

const kindOf = {
  draw: "draw",
  queue: "queue",
  release: "timed_release",
  second: "queue",
  waitlist: "waitlist"
} as const

/** One actor: a state that only its own events change, and its journal. */
class Actor {
  readonly state: unknown
  readonly journal: Array<Event> = []
  readonly #decider: AnyDecider
  #draws = 0

  constructor(decider: AnyDecider, configuration: unknown) {
    this.#decider = decider
    this.state = decider.initial()
    this.send({ _tag: "Configure", configuration, by: "admin" } as Command, 0)
  }

  /** Runs due transitions and the commands, in milliseconds from the start. */
  send(command: Command | undefined, now: number): void {
    const entropy = () => `${++this.#draws}`.padStart(32, "0")
    const commands = command === undefined ? [] : [command]
    this.journal.push(...runBatch(this.#decider, this.state, commands, { now: start + now, entropy, level: 1 }).events)
  }

  get report(): UnitsReport {
    return this.#decider.units!(this.state)!
  }

  get counts(): { readonly [status: string]: number } {
    return this.#decider.counts(this.state)
  }
}

/** When the draw draws, and when everything closes, in milliseconds. */
export const drawMillis = 2_000
export const closeMillis = 8_000

const settings = { openAt: at(0), closeAt: at(closeMillis / 1_000), admissionExpirationSeconds: 2, stockId }

const configurationOf = {
  queue: queueOf({ ...settings, admitRate: 60_000, recycleExpiredAdmissions: true }),
  second: queueOf({ ...settings, admitRate: 60_000, recycleExpiredAdmissions: true }),
  release: releaseOf(settings),
  waitlist: waitlistOf({ ...settings, offers: true }),
  draw: drawOf({
    ...settings,
    closeAt: at(drawMillis / 1_000),
    drawAt: at(drawMillis / 1_000),
    winnerCount: 50,
    continueSelectingUntilCompleted: true
  })
} as const

export class Drop {
  readonly stock: Actor
  readonly mechanisms: { readonly [N in Name]: Actor }
  /** What the worker has said to mechanisms. Any of it may be said again. */
  readonly said: Array<{ readonly name: Name; readonly command: SettleUnits }> = []
  now = 0
  readonly #ledger = new Ledger()
  #checked = -1

  constructor(takers: ReadonlyArray<Taker>, units: number) {
    this.stock = new Actor(stockDecider, stockOf({ takers }))
    this.stock.send({ _tag: "Adjust", units, reason: "DELIVERED", by: "admin" } as Command, 0)
    const made = names.map((name) => [name, new Actor(deciders[kindOf[name]], configurationOf[name])] as const)
    this.mechanisms = Object.fromEntries(made) as unknown as Drop["mechanisms"]
  }

  /** Lets time pass. */
  wait(millis: number): void {
    this.now += millis
    for (const actor of [this.stock, ...Object.values(this.mechanisms)]) actor.send(undefined, this.now)
    this.check()
  }

  tell(name: Name, command: Command): void {
    this.mechanisms[name].send(command, this.now)
    this.check()
  }

  tellStock(command: Command): void {
    this.stock.send(command, this.now)
    this.check()
  }

  /** The worker passes until there is nothing to carry, or dies after `steps`: a kill between any two of its steps. */
  work(steps = Infinity): void {
    let left = steps
    const step = (act: () => void): boolean => {
      if (left-- <= 0) return false
      act()
      this.check()
      return true
    }
    let passes = 0
    for (let length = -1; length !== this.#length;) {
      length = this.#length
      assert.isBelow(++passes, 20, "the worker does not come to an end")
      const reports = new Map(names.map((name) => [name as string, this.mechanisms[name].report]))
      if (!step(() => this.tellStock({ _tag: "Settle", reports } as Command))) return
      const { configuration } = this.stock.state as State
      const turns = asked(configuration, this.facts, { reports }, start + this.now)
      for (const name of names) {
        const account = this.facts.accounts.find(({ distributionId }) => distributionId === name)
        const giveBack = turns.find(({ distributionId }) => distributionId === name)?.units
        const command: SettleUnits = {
          _tag: "SettleUnits",
          taken: account?.taken ?? 0,
          ...(account?.underway !== undefined && { arriving: account.underway }),
          ...(giveBack !== undefined && { giveBack }),
          mayReturn: mayReturnTo(configuration, this.facts, name, reports.get(name)!)
        }
        this.said.push({ name, command })
        if (!step(() => this.mechanisms[name].send(command, this.now))) return
      }
    }
  }

  /** The number of events in all journals. */
  get #length(): number {
    return names.reduce((total, name) => total + this.mechanisms[name].journal.length, this.stock.journal.length)
  }

  get facts(): Facts {
    return stockDecider.facts!(this.stock.state as State, start + this.now)
  }

  /** Compares what the actors say of their units with the naive reference, and asserts that every unit is somewhere. */
  check(): void {
    // Most steps change nothing.
    if (this.#length === this.#checked) return
    this.#checked = this.#length
    this.#ledger.read("stock", this.stock.journal)
    for (const name of names) this.#ledger.read(name, this.mechanisms[name].journal)
    const { onHand, free, ordered, units, sold } = this.#ledger
    const facts = this.facts
    if (facts.onHand !== onHand || facts.free !== free || free < 0)
      assert.fail(`the stock says ${facts.free} of ${free}`)
    for (const name of names) {
      const report = this.mechanisms[name].report
      if (report.units !== units[name] || report.sold !== sold[name]) assert.fail(`${name} says ${report.units}`)
      if (report.held > report.units) assert.fail(`${name} has promised more than it has`)
    }
    const all = free + sum(units) + sum(sold) + this.#ledger.underway + ordered
    if (all !== onHand) assert.fail(`${all} units of ${onHand}: one was lost or doubled`)
  }

  /**
   * Returns the units that lie idle although somebody waits who may have one: as a person would count who sees every
   * place at once.
   */
  get idle(): number {
    const { takers } = (this.stock.state as State).configuration
    const waits = (name: Name): number => {
      const taker = takers.find(({ distributionId }) => distributionId === name)
      const report = this.mechanisms[name].report
      if (taker === undefined || (taker.from ?? 0) > start + this.now) return 0
      const room = (taker.units ?? taker.upTo ?? Infinity) - report.sold - report.units
      return Math.max(0, Math.min(room, this.peopleWaiting(name) - (report.units - report.held)))
    }
    const spare = (name: Name): number => {
      const taker = takers.find(({ distributionId }) => distributionId === name)
      const report = this.mechanisms[name].report
      const isOpen = (this.mechanisms[name].state as { readonly closedAt: number }).closedAt === Infinity
      const isReserved = taker?.units !== undefined && isOpen
      return isReserved ? 0 : Math.max(0, report.units - report.held - this.peopleWaiting(name))
    }
    const waiting = names.reduce((total, name) => total + waits(name), 0)
    return Math.min(waiting, this.facts.free + names.reduce((total, name) => total + spare(name), 0))
  }

  /** Returns how many people wait there and may still get a unit. */
  peopleWaiting(name: Name): number {
    const { counts } = this.mechanisms[name]
    if (name === "release") return 0
    if (name === "waitlist") return counts["ENTERED"]!
    if (name !== "draw") return counts["QUEUED"]!
    return Math.min(counts["ENTERED"]!, 50 - counts["WON"]! - counts["COMPLETED"]!)
  }
}

const sum = (numbers: Units): number => Object.values(numbers).reduce((total, one) => total + one, 0)

type Units = { [N in Name]: number }

interface Moved extends Event, Transfer {
  readonly distributionId: Name
}

/** Says where every unit is, from the journals alone: a transfer is under way once it left and until it came. */
class Ledger {
  onHand = 0
  free = 0
  /** Units that orders took from the stock, less those of cancelled orders. */
  ordered = 0
  readonly units: Units = { draw: 0, queue: 0, release: 0, second: 0, waitlist: 0 }
  readonly sold: Units = { draw: 0, queue: 0, release: 0, second: 0, waitlist: 0 }
  readonly #underway = new Map<string, number>()
  readonly #read = new Map<string, number>()

  get underway(): number {
    return [...this.#underway.values()].reduce((total, one) => total + one, 0)
  }

  /** Reads the events that were not read before. */
  read(name: Name | "stock", journal: ReadonlyArray<Event>): void {
    for (const event of journal.slice(this.#read.get(name) ?? 0) as ReadonlyArray<Event> as ReadonlyArray<Moved>) {
      if (name === "stock") this.#ofStock(event)
      else this.#ofMechanism(name, event)
    }
    this.#read.set(name, journal.length)
  }

  #ofStock({ _tag, units, distributionId, transfer }: Moved): void {
    if (_tag === "Adjusted") {
      this.onHand += units
      this.free += units
    } else if (_tag === "UnitsLeft") {
      this.free -= units
      this.#leave(`to ${distributionId} ${transfer}`, units)
    } else if (_tag === "UnitsCame") {
      this.free += this.#come(`from ${distributionId} ${transfer}`)
    } else if (_tag === "UnitsRecalled") {
      this.free += this.#come(`to ${distributionId} ${transfer}`)
    } else if (_tag === "OrderCounted" || _tag === "OrderCancelled") {
      const taken = _tag === "OrderCounted" ? units : -units
      this.free -= taken
      this.ordered += taken
    }
  }

  #ofMechanism(name: Name, { _tag, units, transfer }: Moved): void {
    if (_tag === "UnitsCame") this.units[name] += this.#come(`to ${name} ${transfer}`)
    else if (_tag === "UnitsLeft") {
      this.units[name] -= units
      this.#leave(`from ${name} ${transfer}`, units)
    } else if (_tag === "Completed") {
      this.units[name]--
      this.sold[name]++
    }
  }

  #leave(key: string, units: number): void {
    assert.isFalse(this.#underway.has(key), `${key} left twice`)
    this.#underway.set(key, units)
  }

  #come(key: string): number {
    const units = this.#underway.get(key)
    assert.isDefined(units, `${key} came twice, or never left`)
    this.#underway.delete(key)
    return units
  }
}

/** Returns a number below `below`. */
export type Dice = (below: number) => number

export const dice = (seed: number): Dice => {
  const random = seededRandom(seed.toString(16).padStart(8, "0").repeat(4))
  return (below) => random() % below
}
