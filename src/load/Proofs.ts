/** Proofs after a run, from the recorded events of its mechanisms and the answers that its consumers got. */
import type { HistoryEntry } from "../api/admin/DistributionApi.ts"
import { declarations, grantsOnEntry, type Kind } from "../domain/mechanism/Mechanism.ts"
import type { Proof } from "./Report.ts"

/** A recorded event. */
export type Recorded = typeof HistoryEntry.Type

/** The answers that consumers got. */
export interface Answers {
  /** The position in the answer to the entry; undefined if the consumer was admitted at once. */
  readonly positions: ReadonlyMap<string, number | undefined>
  /** The consumers that saw their admission. */
  readonly granted: ReadonlySet<string>
}

/** Checks the history of a queue. `admitRate` is admissions a minute. */
export function prove(history: ReadonlyArray<Recorded>, answers: Answers, admitRate: number): ReadonlyArray<Proof> {
  const entered = consumersOf(history, "Entered")
  const granted = consumersOf(history, "Granted")
  const recorded = new Set(entered)
  const recordedGrants = new Set(granted)
  return [
    claim("The journal has no gap", gapsIn(history)),
    claim("No consumer has two places", repeated(entered)),
    claim("No consumer was admitted twice", repeated(granted)),
    claim(
      "Every answered entry is recorded",
      [...answers.positions.keys()].filter((id) => !recorded.has(id))
    ),
    claim(
      "Every admission that a consumer saw is recorded",
      [...answers.granted].filter((id) => !recordedGrants.has(id))
    ),
    claim(
      "No position was given twice: a replay gives each consumer the answered position",
      wrongPositions(history, answers)
    ),
    claim("Consumers were admitted in the order of their entries", outOfOrder(history)),
    claim(`Never more than ${admitRate} admissions a minute`, tooFast(history, admitRate))
  ]
}

/** The event of an entry. Consumers enter an auction with a bid. */
const entryEventOf = (kind: Kind): string => (kind === "auction" ? "BidPlaced" : declarations[kind].entries[0])

/** Checks the history of a mechanism of another kind than a queue. `capacity` is the number of its units. */
export function proveEntries(
  kind: Kind,
  history: ReadonlyArray<Recorded>,
  { positions }: Pick<Answers, "positions">,
  capacity: number
): ReadonlyArray<Proof> {
  const entered = consumersOf(history, entryEventOf(kind))
  const recorded = new Set(entered)
  const claims = [
    claim("The journal has no gap", gapsIn(history)),
    claim(
      "Every answered entry is recorded",
      [...positions.keys()].filter((id) => !recorded.has(id))
    ),
    kind === "auction"
      ? claim("Every accepted bid is higher than the one before it", notHigher(history))
      : claim("No consumer has two places", repeated(entered))
  ]
  if (grantsOnEntry(kind)) claims.push(claim(`Never more than ${capacity} places`, entered.slice(capacity)))
  return claims.map((proof) => ({ ...proof, claim: `${kind}: ${proof.claim}` }))
}

/** Amounts of a load are whole numbers. */
function notHigher(history: ReadonlyArray<Recorded>): ReadonlyArray<string> {
  const bids = history.filter(({ type }) => type === "BidPlaced").map(({ data }) => Number(data["amount"]))
  return bids.flatMap((bid, index) =>
    index === 0 || bid > bids[index - 1]! ? [] : [`${bid} after ${bids[index - 1]}`]
  )
}

/** A claim holds if nothing contradicts it. */
const claim = (text: string, contradictions: ReadonlyArray<string>): Proof => ({
  claim: text,
  holds: contradictions.length === 0,
  detail: contradictions.length === 0 ? "checked" : `${contradictions.length}, first: ${contradictions[0]}`
})

/** The consumers of the events of a type, in their order. */
export const consumersOf = (history: ReadonlyArray<Recorded>, type: string): ReadonlyArray<string> =>
  history.filter((event) => event.type === type).map(({ consumerId }) => consumerId!)

const gapsIn = (history: ReadonlyArray<Recorded>): ReadonlyArray<string> =>
  history.flatMap(({ sequence }, index) => (sequence === index + 1 ? [] : [`number ${sequence} at ${index + 1}`]))

/** The ids that were there before. */
export const repeated = (ids: ReadonlyArray<string>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  return ids.filter((id) => {
    const isRepeated = seen.has(id)
    seen.add(id)
    return isRepeated
  })
}

/**
 * Replays the line, and compares the position after each entry with the answer. A balancer may repeat an entry whose
 * answer was lost. The second answer has the position of that moment, so a later position of the consumer is right too.
 */
function wrongPositions(history: ReadonlyArray<Recorded>, { positions }: Answers): ReadonlyArray<string> {
  /** The waiting consumers, each with the order of its entry. */
  const waiting = new Map<string, number>()
  const ahead: Array<Ahead> = []
  for (const [order, { type, consumerId }] of history.entries()) {
    if (consumerId === null) continue
    if (type === "Entered") {
      waiting.set(consumerId, order)
      const told = positions.get(consumerId)
      if (told !== undefined && told !== waiting.size)
        ahead.push({ consumerId, order, told, had: waiting.size, left: 0 })
      continue
    }
    const left = waiting.get(consumerId)
    if (left === undefined || !waiting.delete(consumerId)) continue
    for (const entry of ahead) if (left < entry.order && waiting.has(entry.consumerId)) entry.left++
  }
  return ahead
    .filter(({ told, had, left }) => told < had - left || told > had)
    .map(({ consumerId, told, had }) => `${consumerId} was told ${told} and had ${had}`)
}

/** An entry that was told another position than it had at first. */
interface Ahead {
  readonly consumerId: string
  readonly order: number
  readonly told: number
  /** The first position. */
  readonly had: number
  /** The consumers ahead that have left the line while this one waited. */
  left: number
}

/**
 * The admissions that were not the next ones. Consumers of the lobby, which entered before the opening, come before the
 * others, in any order.
 */
export function outOfOrder(history: ReadonlyArray<Recorded>): ReadonlyArray<string> {
  const lobby = new Set<string>()
  const line = new Set<string>()
  const early: Array<string> = []
  let isOpen = !history.some(({ type }) => type === "Opened")
  for (const { type, consumerId } of history) {
    if (type === "Opened") isOpen = true
    if (consumerId === null) continue
    if (type === "Entered") (isOpen ? line : lobby).add(consumerId)
    else {
      const [first] = lobby.size > 0 ? lobby : line
      const isNext = lobby.has(consumerId) || first === consumerId
      if (type === "Granted" && !isNext) early.push(`${consumerId} before ${first}`)
      lobby.delete(consumerId)
      line.delete(consumerId)
    }
  }
  return early
}

/** Admissions are evenly spaced, so no two of them are closer than the rate says, but for rounding to milliseconds. */
function tooFast(history: ReadonlyArray<Recorded>, admitRate: number): ReadonlyArray<string> {
  const at = history.filter(({ type }) => type === "Granted").map((event) => event.at)
  const perMilli = admitRate / 60_000
  // The lowest lead so far: how far an earlier admission was behind the rate. From there on the rate may be used up.
  let lowest = Infinity
  return at.flatMap((instant, index) => {
    const lead = index - instant * perMilli
    lowest = Math.min(lowest, lead)
    // A millisecond of rounding is allowed at each end.
    return lead - lowest > 2 * perMilli + 1e-6 ? [`number ${index + 1} at ${new Date(instant).toISOString()}`] : []
  })
}
