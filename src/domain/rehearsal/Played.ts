/** What looks wrong only when a drop is played, and whether everybody who should get something gets it. */
import { fallenPrice } from "./Bids.ts"
import { type CheckedMechanism, collectsInterest, effective, number, quoted } from "./CheckedDrop.ts"
import { type Crowd, p95Of } from "./Crowd.ts"
import { refusedWords } from "./Refused.ts"
import type { FindingCode, Severity } from "./Finding.ts"
import type { MechanismOutcome } from "./Outcome.ts"

/** Each kind of finding, with what the check says about its cause. A code stays the same when its words change. */
const causes = {
  NOBODY_COULD_ENTER: [
    "EXPERIENCE_OVER",
    "MECHANISM_OVER",
    "OPENS_AFTER_EXPERIENCE_CLOSES",
    "CLOSES_BEFORE_EXPERIENCE_OPENS",
    "SLOTS_OVER_AT_OPENING"
  ],
  TURNED_AWAY: ["QUEUE_BELOW_UNITS"],
  MORE_GRANTS_THAN_UNITS: [],
  UNITS_LEFT_WHILE_WAITING: [
    "NO_TAKER",
    "RATE_TOO_SLOW",
    "RATE_ZERO",
    "UNITS_NOT_GIVEN_AGAIN",
    "GRANT_NEVER_EXPIRES",
    "SHARES_ABOVE_STOCK"
  ],
  GAVE_UP: ["NO_TAKER", "RATE_TOO_SLOW", "RATE_ZERO", "UNITS_NOT_GIVEN_AGAIN", "GRANT_NEVER_EXPIRES"],
  GRANTS_LAPSED: ["GRANT_TOO_SHORT"],
  NOTHING_SOLD: ["PRICE_STAYS_ABOVE_FLOOR"],
  STILL_WAITING: ["RATE_ZERO", "RATE_TOO_SLOW", "GRANT_NEVER_EXPIRES"],
  NEVER_NOTIFIED: ["WAITLIST_WITHOUT_OPENING"]
} as const satisfies { readonly [code: string]: ReadonlyArray<FindingCode> }
export type PlayedCode = keyof typeof causes

export interface PlayedFinding {
  readonly code: PlayedCode
  readonly severity: Severity
  readonly message: string
  /** The mechanism. */
  readonly recordId: string
  /** The setting in which it is mended; null if there are several. */
  readonly field: string | null
}

/** A share of fewer people is chance. */
const peopleMin = 5

/**
 * Returns how many people should have got something and did not: those that did not give up, as far as there were units,
 * in the mechanism and in its stock.
 */
export const unservedOf = ({ units, unitsLeft, people, gaveUp, served }: MechanismOutcome): number => {
  const stayed = people - gaveUp
  return Math.max(0, Math.min(Math.min(units ?? stayed, stayed) - served, unitsLeft ?? Infinity))
}

/** Whether the finding only follows from one that the check has about the same mechanism, or about the whole drop. */
export const isExplained = (
  { code }: PlayedFinding,
  mechanismId: string,
  checked: ReadonlyArray<{ readonly code: FindingCode; readonly record: string; readonly recordId: string | null }>
): boolean => {
  const reasons: ReadonlyArray<FindingCode> = causes[code]
  return checked.some(
    (one) => reasons.includes(one.code) && (one.recordId === mechanismId || one.record === "experience")
  )
}

/** Returns what looks wrong with a mechanism that this crowd has played. */
export const playedFindings = (
  mechanism: CheckedMechanism,
  outcome: MechanismOutcome,
  crowd: Pick<Crowd, "checkout">
): ReadonlyArray<PlayedFinding> => {
  const { name, units, mostTaken, stillWaiting } = outcome
  const { error, warning } = findingsOf(outcome)
  const found: Array<PlayedFinding> = [...entryFindings(mechanism, outcome)]
  if (collectsInterest(mechanism)) {
    if (stillWaiting === 0) return found
    const message = `${people(stillWaiting)} in ${quoted(name)} were never told that it opens.`
    return [...found, warning("NEVER_NOTIFIED", message)]
  }
  if (units !== null && mostTaken > units) {
    const message = `${quoted(name)} gave away ${number(mostTaken)} units at one time, but has only ${number(units)}.`
    found.push(error("MORE_GRANTS_THAN_UNITS", message))
  }
  return [
    ...found,
    ...waitFindings(mechanism, outcome),
    ...lapseFindings(mechanism, outcome, crowd),
    ...saleFindings(mechanism, outcome)
  ]
}

/** Nobody could enter, or people were turned away although there was something for them. */
const entryFindings = (
  { settings: { capacity } }: CheckedMechanism,
  outcome: MechanismOutcome
): ReadonlyArray<PlayedFinding> => {
  const { name, units, people: entered, soldOutAt, refused } = outcome
  const { error, warning } = findingsOf(outcome)
  const codes = Object.entries(refused).toSorted(([, a], [, b]) => b - a)
  if (entered === 0 && codes.length > 0) {
    const reasons = codes.map(([code, count]) => `${number(count)} were refused, because ${refusedWords(code)}`)
    return [error("NOBODY_COULD_ENTER", `Nobody could enter ${quoted(name)}: ${reasons.join("; ")}.`)]
  }
  const full = codes.reduce((sum, [code, count]) => (/^[A-Z]+_FULL$/.test(code) ? sum + count : sum), 0)
  if (capacity === undefined || units === null || soldOutAt !== null || full === 0) return []
  const message = `${quoted(name)} turned away ${people(full)}, because it takes only ${number(capacity)} at one time, although not all of its ${number(units)} units were sold.`
  return [warning("TURNED_AWAY", message, "capacity")]
}

/** People got nothing although there was something, gave up meanwhile, or wait for ever. */
const waitFindings = ({ settings }: CheckedMechanism, outcome: MechanismOutcome): ReadonlyArray<PlayedFinding> => {
  const { name, kind, people: entered, gaveUp, soldOutAt, stillWaiting, waitSeconds } = outcome
  const { error, warning } = findingsOf(outcome)
  // Below its reserve price an auction sells nothing.
  const unserved = settings.reservePrice === undefined ? unservedOf(outcome) : 0
  if (unserved > 0) {
    const others = gaveUp > 0 ? ` ${people(gaveUp)} gave up before.` : ""
    const message = `${people(unserved)} got nothing from ${quoted(name)}, although there were units for them.${others}`
    return [error("UNITS_LEFT_WHILE_WAITING", message)]
  }
  const isSlow = kind === "queue" && soldOutAt === null && gaveUp >= peopleMin && gaveUp * 3 > entered
  if (isSlow) {
    const { admitRate = 0 } = settings
    const waited = waitSeconds === null ? "" : ` Half of the others waited ${minutes(waitSeconds.median)} or longer.`
    const message = `${number(gaveUp)} of ${people(entered)} gave up in ${quoted(name)}, while there were units. It admits ${number(admitRate)} a minute.${waited}`
    return [warning("GAVE_UP", message, "admitRate")]
  }
  if (stillWaiting === 0) return []
  const message = `${people(stillWaiting)} in ${quoted(name)} still wait at the end, and nothing tells them that it is over.`
  return [warning("STILL_WAITING", message, "closeAt")]
}

/** More grants lapse than are used. Who misses an appointment knew its time. */
const lapseFindings = (
  { kind, settings: { admissionExpirationSeconds: seconds } }: CheckedMechanism,
  outcome: MechanismOutcome,
  { checkout }: Pick<Crowd, "checkout">
): ReadonlyArray<PlayedFinding> => {
  const { name, granted, lapsed } = outcome
  if (kind === "appointment" || seconds === undefined || lapsed < peopleMin || lapsed * 2 <= granted) return []
  const needed = p95Of(checkout) / 1_000
  const advice = needed > seconds ? ` Of those who use one, 19 in 20 need at most ${minutes(needed)}.` : ""
  const message = `${number(lapsed)} of ${number(granted)} turns of ${quoted(name)} lapsed unused. A turn lasts ${minutes(seconds)}.${advice}`
  return [findingsOf(outcome).warning("GRANTS_LAPSED", message, "admissionExpirationSeconds")]
}

/** An auction to which people came, and which sold nothing. */
const saleFindings = (mechanism: CheckedMechanism, outcome: MechanismOutcome): ReadonlyArray<PlayedFinding> => {
  const { name, granted, people: bidders } = outcome
  const settings = effective(mechanism)
  const { auctionType, reservePrice, currencyCode = "", openAt, closeAt } = settings
  const { warning } = findingsOf(outcome)
  if (granted > 0 || auctionType === undefined) return []
  if (auctionType === "english") {
    if (reservePrice === undefined || bidders === 0) return []
    const message = `${quoted(name)} sold nothing: of ${people(bidders)}, none bid its reserve price of ${reservePrice} ${currencyCode}.`
    return [warning("NOTHING_SOLD", message, "reservePrice")]
  }
  if (openAt === undefined || closeAt === undefined) return []
  const least = fallenPrice(settings, closeAt - 1 - openAt)
  const message = `${quoted(name)} sold nothing: nobody paid ${number(least)} ${currencyCode}, the lowest price that it reached.`
  return [warning("NOTHING_SOLD", message, "floorPrice")]
}

const findingsOf = ({ id: recordId }: MechanismOutcome) => {
  const of =
    (severity: Severity) =>
    (code: PlayedCode, message: string, field: string | null = null): PlayedFinding => ({
      code,
      severity,
      message,
      recordId,
      field
    })
  return { error: of("error"), warning: of("warning") }
}

const people = (count: number): string => (count === 1 ? "1 person" : `${number(count)} people`)

const minutes = (seconds: number): string =>
  seconds < 120 ? `${number(Math.round(seconds))} s` : `${number(Math.round(seconds / 60))} minutes`
