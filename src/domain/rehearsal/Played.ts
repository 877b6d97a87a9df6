/** What looks wrong only when a drop is played, and whether everybody who should get something gets it. */
import { type CheckedMechanism, collectsInterest, number, quoted } from "./CheckedDrop.ts"
import type { Severity } from "./Finding.ts"
import type { MechanismOutcome } from "./Outcome.ts"

/** Each kind of finding. A code stays the same when its words change. */
export type PlayedCode =
  | "NOBODY_COULD_ENTER"
  | "MORE_GRANTS_THAN_UNITS"
  | "UNITS_LEFT_WHILE_WAITING"
  | "STILL_WAITING"
  | "NEVER_NOTIFIED"

export interface PlayedFinding {
  readonly code: PlayedCode
  readonly severity: Severity
  readonly message: string
  /** The mechanism. */
  readonly recordId: string
}

/** Returns how many people should have got something and did not. People that gave up are none of them. */
export const unservedOf = ({ units, people, gaveUp, served }: MechanismOutcome): number => {
  const stayed = people - gaveUp
  return Math.max(0, Math.min(units ?? stayed, stayed) - served)
}

/** Returns what looks wrong with a mechanism that was played. */
export const playedFindings = (
  mechanism: CheckedMechanism,
  outcome: MechanismOutcome
): ReadonlyArray<PlayedFinding> => {
  const { id: recordId, units, mostTaken, stillWaiting } = outcome
  const name = quoted(outcome.name)
  const found: Array<PlayedFinding> = [...cannotEnter(outcome)]
  if (collectsInterest(mechanism)) {
    if (stillWaiting === 0) return found
    const message = `${people(stillWaiting)} in ${name} were never told that it opens.`
    return [...found, { code: "NEVER_NOTIFIED", severity: "warning", message, recordId }]
  }
  if (units !== null && mostTaken > units) {
    const message = `${name} gave away ${number(mostTaken)} units at one time, but has only ${number(units)}.`
    found.push({ code: "MORE_GRANTS_THAN_UNITS", severity: "error", message, recordId })
  }
  // Below its reserve price an auction sells nothing.
  const unserved = mechanism.settings.reservePrice === undefined ? unservedOf(outcome) : 0
  if (unserved > 0) {
    const message = `${people(unserved)} got nothing from ${name}, although there were units for them.`
    found.push({ code: "UNITS_LEFT_WHILE_WAITING", severity: "error", message, recordId })
  } else if (stillWaiting > 0) {
    const message = `${people(stillWaiting)} in ${name} still wait at the end, and nothing tells them that it is over.`
    found.push({ code: "STILL_WAITING", severity: "warning", message, recordId })
  }
  return found
}

const cannotEnter = ({ id: recordId, name, people, refused }: MechanismOutcome): ReadonlyArray<PlayedFinding> => {
  const codes = Object.entries(refused).toSorted(([, a], [, b]) => b - a)
  if (people > 0 || codes.length === 0) return []
  const message = `Nobody could enter ${quoted(name)}: ${codes.map(([code, count]) => `${code} ${number(count)} times`).join(", ")}.`
  return [{ code: "NOBODY_COULD_ENTER", severity: "error", message, recordId }]
}

const people = (count: number): string => (count === 1 ? "1 person" : `${number(count)} people`)
