/**
 * The risk of entries in every kind of mechanism. The command of an entry carries it, the entry's event records it, and
 * the place shows it to admins. {@link deciderOf} adds this to the declaration of a kind.
 */
import { Schema } from "effect"
import { Risk } from "../risk/Risk.ts"
import type { Command, Event, PlaceRow, Refusal } from "./Decider.ts"

/** The field of an entry's event. Absent: nothing suggested a risk, or the event is older than risks. */
export const risk = Schema.optionalKey(Risk)

/** The field of an entry's command. */
export interface WithRisk {
  readonly risk?: Risk | undefined
}

/** Enters a consumer where loyalty may decide. */
export interface LoyalEntry extends WithRisk {
  readonly _tag: "Enter"
  readonly consumerId: string
  readonly isGuest: boolean
  /** 0 to 1. */
  readonly loyaltyScore: number
}

/** The part of a state that holds the risks. */
export interface EntryRisks {
  /** By consumer, of its last entry. Only entries that have a risk are in it. */
  readonly risks: Map<string, Risk>
}

/** Returns the outcome with the command's risk in the events that are entries. */
export const withRisk = <E extends Event, R extends Refusal>(
  outcome: ReadonlyArray<E> | R,
  { risk }: Command & WithRisk,
  entries: ReadonlyArray<string>
): ReadonlyArray<E> | R =>
  risk === undefined || "_tag" in outcome
    ? outcome
    : outcome.map((event) => (entries.includes(event._tag) ? { ...event, risk } : event))

/** Keeps the risk of an entry until the consumer enters again. */
export const noteRisk = ({ risks }: EntryRisks, event: Event & WithRisk, entries: ReadonlyArray<string>): void => {
  const { consumerId, risk } = event
  if (consumerId === undefined) return
  if (risk !== undefined) risks.set(consumerId, shared(risk))
  else if (risks.size > 0 && entries.includes(event._tag)) risks.delete(consumerId)
}

/** Returns the row with the risk of the consumer's entry. */
export const shownRisk = (
  { risks }: EntryRisks,
  consumerId: string,
  row: PlaceRow | undefined
): PlaceRow | undefined => {
  const risk = risks.size === 0 ? undefined : risks.get(consumerId)
  return row === undefined || risk === undefined ? row : { ...row, fields: { ...row.fields, risk } }
}

/** The risks that were seen. There are few different ones, and a mechanism can have a million entries. */
const known = new Map<string, Risk>()

/** Returns the one object for all equal risks. */
const shared = (risk: Risk): Risk => {
  const name = `${risk.score} ${risk.reasons.join(" ")}`
  const same = known.get(name)
  if (same === undefined && known.size < knownMax) known.set(name, risk)
  return same ?? risk
}

/** Scores with sets of reasons, of which some 800 are possible. */
const knownMax = 2_000
