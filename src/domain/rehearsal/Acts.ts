/**
 * What each person of a crowd does, and when. It follows from the crowd, the openings and the seed alone. What depends on a
 * grant follows from the grant's instant, so it is a time here, and becomes an act when the grant is made.
 */
import type { Kind } from "../mechanism/Mechanism.ts"
import { type Random32, seededRandom } from "../values/SeededRandom.ts"
import { sha256 } from "../values/Digest.ts"
import type { Millis } from "../values/Time.ts"
import type { Crowd, Spread } from "./Crowd.ts"

/** A mechanism to which people come. */
export interface Opening {
  readonly kind: Kind
  /** From when on entries are accepted: the opening, or that of the lobby. */
  readonly from: Millis
  readonly openAt: Millis
  /** The last instant for an entry. */
  readonly until: Millis
}

/** What a person does. `use` takes what a grant gives it. */
export type Deed = "enter" | "bid" | "leave" | "use"

export interface Act {
  readonly at: Millis
  readonly person: number
  /** The place of the mechanism in the list of openings. */
  readonly mechanism: number
  readonly deed: Deed
  /** The bid of the person, from 0. */
  readonly bid?: number
}

/** A person of the crowd. */
export interface Person {
  /** The consumer as which it comes. Machines share some. */
  readonly consumer: number
  readonly isBot: boolean
  /** From a grant to its use; undefined if it does not use it. */
  readonly checkout: Millis | undefined
  /** The most it bids in an auction, in start prices. */
  readonly worth: number
}

export interface Plan {
  readonly people: ReadonlyArray<Person>
  /** All that does not follow from a grant, in any order. */
  readonly acts: ReadonlyArray<Act>
}

/** Nobody pays faster. So a rehearsal that looks for grants so often misses no use of one. */
export const checkoutLeast: Millis = 10_000

/**
 * People act on the ticks of a grid, because each instant is a step of the clock: whole seconds near the opening, and
 * coarser ones the farther it is away. A tick is a fiftieth of that time, or less.
 */
const tick: Millis = 1_000
const ticks = [1, 2, 5, 10, 20, 60, 120, 300, 600, 1_800, 3_600].map((seconds) => seconds * tick)

/** Returns the first tick of the grid that is not before an instant so far from its opening. */
const toGrid = (at: number, distance: number): Millis => {
  const grid = ticks.findLast((one) => one <= Math.abs(distance) / 50) ?? tick
  return Math.ceil(at / grid) * grid
}

/** Returns when a grant of an instant is used, to a tenth of the time that this takes. */
export const useAt = (grantedAt: Millis, checkout: Millis): Millis => toGrid(grantedAt + checkout, checkout * 5)

/** The time in which those come who do not come for the opening. */
const lateMillis: Millis = 4 * 3_600_000

/** Returns what the crowd does. Without openings nobody comes. */
export const planOf = (crowd: Crowd, openings: ReadonlyArray<Opening>, seed: number): Plan => {
  const random = seededRandom(sha256(`crowd ${seed}`).slice(0, 32))
  const choose = chooser(crowd, openings)
  const people: Array<Person> = []
  const acts: Array<Act> = []
  if (openings.length === 0) return { people, acts }
  for (let person = 0; person < crowd.people; person++) {
    // Each person draws the same numbers whatever it is, so one setting changes nothing of the others.
    const [chance, choice, early, place, showUp] = [
      unit(random),
      unit(random),
      unit(random),
      unit(random),
      unit(random)
    ]
    const [checkout, patience] = [logNormal(random, crowd.checkout), logNormal(random, crowd.patience)]
    const worth = logNormal(random, crowd.bids.worth)
    const isBot = chance < crowd.bots.share
    const mechanism = choose(choice)
    const opening = openings[mechanism]!
    const comes = isBot ? toTick(opening.openAt) : arrivalOf(crowd, opening, early, place)
    const paysAfter = isBot ? checkoutLeast : Math.max(checkoutLeast, Math.round(checkout))
    people.push({
      consumer: isBot ? crowd.people + (person % crowd.bots.addresses) : person,
      isBot,
      checkout: !isBot && showUp < crowd.noShow ? undefined : paysAfter,
      worth
    })
    const { kind, until } = opening
    if (kind === "auction") {
      const bids = isBot ? 1 : crowd.bids.perPerson
      for (let bid = 0; bid < bids; bid++) {
        const at = toGrid(
          comes + ((until - comes) * bid) / bids,
          comes - opening.openAt + ((until - comes) * bid) / bids
        )
        if (at < until) acts.push({ at, person, mechanism, deed: "bid", bid })
      }
    } else acts.push({ at: comes, person, mechanism, deed: "enter" })
    if (kind === "queue" && !isBot) {
      acts.push({
        at: Math.max(toGrid(comes + patience, patience * 5), comes + tick),
        person,
        mechanism,
        deed: "leave"
      })
    }
  }
  return { people, acts }
}

/** Returns when a person comes. */
const arrivalOf = ({ arrival }: Crowd, { from, openAt, until }: Opening, early: number, place: number): Millis => {
  const last = Math.max(from, until - tick)
  const within = (at: number): Millis => Math.min(last, Math.max(from, toGrid(at, at - openAt)))
  if (arrival.shape === "steady") return within(from + (last - from) * place)
  // Nobody is let in before the lobby or the opening, so who is early enters at that instant.
  if (early < arrival.share) return within(openAt - arrival.before * place * place)
  return within(openAt + Math.min(lateMillis, last - openAt) * place)
}

/** Makes the function from a number in [0, 1) to a mechanism: the share of the draws, and the rest in equal parts. */
const chooser = ({ draws }: Crowd, openings: ReadonlyArray<Opening>) => {
  const isDraw = openings.map(({ kind }) => kind === "draw")
  const drawing = isDraw.filter(Boolean).length
  const others = openings.length - drawing
  const weightOf = (draw: boolean): number => {
    if (drawing === 0 || others === 0) return 1 / openings.length
    return draw ? draws.share / drawing : (1 - draws.share) / others
  }
  const weights = isDraw.map(weightOf)
  return (choice: number): number => {
    let left = choice
    for (const [index, weight] of weights.entries()) if ((left -= weight) < 0) return index
    return weights.findLastIndex((weight) => weight > 0)
  }
}

const toTick = (at: number): Millis => Math.ceil(at / tick) * tick

const unit = (random: Random32): number => random() / 0x1_0000_0000

/** Returns a number whose logarithm is normal: two in three are between the median times and by the spread. */
const logNormal = (random: Random32, { median, spread }: Spread): number => {
  const normal = Math.sqrt(-2 * Math.log(1 - unit(random))) * Math.cos(2 * Math.PI * unit(random))
  return median * Math.exp(normal * Math.log(spread))
}
