/** What the people of a former drop did: how many did not use their grants, how long the others took, how long they wait. */
import { declarations, type Kind } from "../mechanism/Mechanism.ts"
import type { Millis } from "../values/Time.ts"
import { checkoutLeast } from "./Acts.ts"
import type { Crowd, Spread } from "./Crowd.ts"
import type { PlayedEvent } from "./Outcome.ts"

/** What is measured; a figure is absent where too few people show it. */
interface Measured extends Partial<Pick<Crowd, MeasuredFigure>> {
  /** People that entered. */
  readonly people: number
}

/** The figures of a crowd that a former drop shows. */
export const measuredFigures = ["noShow", "checkout", "patience"] as const
export type MeasuredFigure = (typeof measuredFigures)[number]

/** A former drop as a report names it. */
export interface FormerDrop {
  readonly name: string
  readonly people: number
  /** The figures of the crowd that come from it. */
  readonly figures: ReadonlyArray<MeasuredFigure>
}

/** Fewer people than these say nothing about others. */
export const samplesMin = 20

/** Returns what people did in a mechanism, from its events in their order. */
export const measuredIn = (kind: Kind, events: ReadonlyArray<PlayedEvent>): Measured => {
  const { entries, grants }: { readonly entries: ReadonlyArray<string>; readonly grants: ReadonlyArray<string> } =
    declarations[kind]
  const people = new Set<string>()
  const enteredAt = new Map<string, Millis>()
  const grantedAt = new Map<string, Millis>()
  const checkouts: Array<Millis> = []
  const waits: Array<Wait> = []
  let lapsed = 0
  const endWait = (consumerId: string, at: Millis, isGivenUp: boolean) => {
    const since = enteredAt.get(consumerId)
    if (since !== undefined) waits.push({ millis: at - since, isGivenUp })
    enteredAt.delete(consumerId)
  }
  for (const { type, at, consumerId } of events) {
    if (consumerId === null) continue
    if (entries.includes(type)) {
      people.add(consumerId)
      enteredAt.set(consumerId, at)
    }
    if (grants.includes(type)) {
      grantedAt.set(consumerId, at)
      endWait(consumerId, at, false)
    } else if (type === "Completed") {
      checkouts.push(at - (grantedAt.get(consumerId) ?? at))
    } else if (type === "Expired") lapsed++
    else if (type === "Left" || type === "Denied") endWait(consumerId, at, type === "Left")
  }
  const ended = checkouts.length + lapsed
  const checkout = checkouts.length < samplesMin ? undefined : spreadOf(checkouts.toSorted((a, b) => a - b))
  const patience = kind === "queue" ? patienceOf(waits) : undefined
  return {
    people: people.size,
    ...(ended >= samplesMin && { noShow: Math.round((lapsed / ended) * 1_000) / 1_000 }),
    ...(checkout !== undefined && { checkout }),
    ...(patience !== undefined && { patience })
  }
}

interface Wait {
  readonly millis: Millis
  readonly isGivenUp: boolean
}

/** The share of people that is below the median by the spread. */
const belowSpread = 0.16

const rounding = 1e-9

const spreadOf = (sorted: ReadonlyArray<Millis>): Spread => {
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!
  return bounded(at(0.5), at(belowSpread))
}

const bounded = (median: Millis, below: Millis): Spread => {
  const least = Math.max(checkoutLeast, median)
  return { median: least, spread: Math.min(10, Math.max(1, Math.round((least / Math.max(1, below)) * 10) / 10)) }
}

/**
 * Returns how long people wait before they give up, by the estimate of Kaplan and Meier: who got a turn would have waited
 * longer. Undefined if less than half would have given up in the time that was seen.
 */
const patienceOf = (waits: ReadonlyArray<Wait>): Spread | undefined => {
  if (waits.filter(({ isGivenUp }) => isGivenUp).length < samplesMin) return undefined
  const sorted = waits.toSorted((a, b) => a.millis - b.millis)
  // The share that stays, in which products of fractions are not exact.
  let stays = 1
  let below: Millis | undefined
  for (const [index, { millis, isGivenUp }] of sorted.entries()) {
    if (isGivenUp) stays *= 1 - 1 / (sorted.length - index)
    if (stays <= 1 - belowSpread) below ??= millis
    if (stays <= 0.5 + rounding) return bounded(millis, below!)
  }
  return undefined
}

/** Returns the measured figures beside those that were declared. */
export const measuredBeside = (
  declared: ReadonlyArray<string>,
  { people: _, ...measured }: Measured
): Omit<Measured, "people"> => {
  const left = Object.entries(measured).filter(([name, value]) => value !== undefined && !declared.includes(name))
  return Object.fromEntries(left)
}
