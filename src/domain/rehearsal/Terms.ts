/** Findings about the settings of single mechanisms: rates, grants, draws, auctions, slots, waitlists. */
import { slotsBetween, timetableOf } from "../appointment/Timetable.ts"
import { isBelow, ofText } from "../values/Amount.ts"
import { dayMillis } from "../values/WallClock.ts"
import {
  type CheckedDrop,
  type CheckedMechanism,
  type CheckedSequence,
  collectsInterest,
  effective,
  inWords,
  mechanismsOf,
  number,
  quoted
} from "./CheckedDrop.ts"
import { error, type Finding, warning } from "./Finding.ts"
import { stockOf, unitsOf } from "./Units.ts"

/** Less time than most people take to pay. */
const grantSecondsMin = 120

/** A drawing that is this much later than the closing was probably set in the wrong month. */
const drawDelayMax = 14 * dayMillis

export const termFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => [
  ...mechanismsOf(drop).flatMap((mechanism) => [
    ...rateFindings(drop, mechanism),
    ...lineFindings(mechanism),
    ...grantFindings(mechanism),
    ...drawFindings(mechanism),
    ...auctionFindings(drop, mechanism),
    ...slotFindings(mechanism)
  ]),
  ...drop.sequences.flatMap((sequence) => [
    ...waitlistFindings(sequence),
    ...guestFindings(sequence),
    ...audienceFindings(sequence)
  ])
]

const at = ({ id }: CheckedMechanism, field: string) => ({ record: "distribution", id, field }) as const

/** When the last unit would be admitted, at the rate. */
const rateFindings = (drop: CheckedDrop, mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { admitRate, insideLimit } = mechanism.settings
  const { name, openAt = drop.now, closeAt = Infinity } = effective(mechanism)
  if (admitRate === undefined) return []
  if (admitRate === 0) {
    const message = `${quoted(name)} admits nobody by itself: its rate is 0. Staff would admit everybody by hand.`
    return [warning("RATE_ZERO", message, at(mechanism, "admitRate"))]
  }
  const units = unitsOf(mechanism) ?? stockOf(drop.products)
  if (units === undefined || insideLimit !== undefined) return []
  const firstAt = Math.max(openAt, drop.now)
  if (firstAt >= closeAt) return []
  const lastAt = firstAt + (units / admitRate) * 60_000
  const say = (instant: number) => inWords(instant, drop.experience.timeZone)
  const line = `At ${number(admitRate)} a minute, the last of ${number(units)} units in ${quoted(name)} would wait until ${say(lastAt)}`
  if (lastAt > closeAt) {
    return [error("RATE_TOO_SLOW", `${line}, but it closes on ${say(closeAt)}.`, at(mechanism, "admitRate"))]
  }
  return lastAt - firstAt > dayMillis ? [warning("RATE_TOO_SLOW", `${line}.`, at(mechanism, "admitRate"))] : []
}

const lineFindings = (mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, admitRate, capacity, maxAdmissions, recycleExpiredAdmissions } = mechanism.settings
  if (admitRate === undefined || maxAdmissions === undefined) return []
  const findings: Array<Finding> = []
  if (capacity !== undefined && capacity < maxAdmissions) {
    const message = `In ${quoted(name)} at most ${number(capacity)} people may wait, fewer than the ${number(maxAdmissions)} units. Others are refused meanwhile.`
    findings.push(warning("QUEUE_BELOW_UNITS", message, at(mechanism, "capacity")))
  }
  if (recycleExpiredAdmissions === false) {
    const message = `A turn in ${quoted(name)} that nobody uses is lost, and its unit stays unsold.`
    findings.push(warning("UNITS_NOT_GIVEN_AGAIN", message, at(mechanism, "recycleExpiredAdmissions")))
  }
  return findings
}

const grantFindings = (mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, admissionExpirationSeconds: seconds, admissionRenewal } = mechanism.settings
  if (unitsOf(mechanism) === undefined || admissionRenewal !== undefined) return []
  if (seconds === undefined) {
    const message = `A turn in ${quoted(name)} never expires, so who does not buy keeps a unit for ever.`
    return [warning("GRANT_NEVER_EXPIRES", message, at(mechanism, "admissionExpirationSeconds"))]
  }
  if (seconds >= grantSecondsMin) return []
  const message = `A turn in ${quoted(name)} lasts ${seconds} s. Few people can pay in that time.`
  return [warning("GRANT_TOO_SHORT", message, at(mechanism, "admissionExpirationSeconds"))]
}

const drawFindings = (mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, drawAt, closeAt, beacon } = mechanism.settings
  if (drawAt === undefined) return []
  const findings: Array<Finding> = []
  if (beacon === undefined) {
    const message = `${quoted(name)} draws without public randomness. Its proof shows that nothing changed after the start, not that the seed was left to chance.`
    findings.push(warning("DRAW_WITHOUT_BEACON", message, at(mechanism, "beacon")))
  }
  if (closeAt !== undefined && drawAt - closeAt > drawDelayMax) {
    const message = `${quoted(name)} draws ${Math.round((drawAt - closeAt) / dayMillis)} days after it closes.`
    findings.push(warning("DRAW_LATE", message, at(mechanism, "drawAt")))
  }
  return findings
}

const auctionFindings = ({ experience }: CheckedDrop, mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, auctionType, currencyCode, autoExtendSeconds, reservePrice, startPrice } = mechanism.settings
  if (auctionType === undefined) return []
  const findings: Array<Finding> = []
  if (currencyCode !== experience.currencyCode) {
    const message = `${quoted(name)} takes bids in ${currencyCode}, but the drop is in ${experience.currencyCode}.`
    findings.push(error("CURRENCY_DIFFERS", message, at(mechanism, "currencyCode")))
  }
  if (auctionType === "english" && autoExtendSeconds === 0) {
    const message = `A bid in the last second wins ${quoted(name)}, because no late bid moves its closing.`
    findings.push(warning("NO_EXTENSION", message, at(mechanism, "autoExtendSeconds")))
  }
  if (reservePrice !== undefined && startPrice !== undefined && !isBelow(startPrice, reservePrice)) {
    const message = `The reserve price of ${quoted(name)} is not above its start price, so it changes nothing.`
    findings.push(warning("RESERVE_WITHOUT_EFFECT", message, at(mechanism, "reservePrice")))
  }
  return auctionType === "dutch" ? [...findings, ...fallFindings(mechanism)] : findings
}

/** Whether a falling price reaches its floor before the closing. */
const fallFindings = (mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, openAt, closeAt, startPrice, floorPrice, priceDropAmount, priceDropIntervalSeconds } =
    effective(mechanism)
  const isKnown = openAt !== undefined && closeAt !== undefined && priceDropIntervalSeconds !== undefined
  if (!isKnown || startPrice === undefined || floorPrice === undefined || priceDropAmount === undefined) return []
  const drops = BigInt(Math.floor((closeAt - openAt) / (priceDropIntervalSeconds * 1_000)))
  if (ofText(startPrice) - drops * ofText(priceDropAmount) <= ofText(floorPrice)) return []
  const message = `The price of ${quoted(name)} falls ${drops} times before the closing, and never reaches ${floorPrice}.`
  return [warning("PRICE_STAYS_ABOVE_FLOOR", message, at(mechanism, "priceDropIntervalSeconds"))]
}

const slotFindings = (mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, timeZone, openAt, slotsFrom, slotsUntil, hours, slotDurationMinutes, bufferMinutes } =
    effective(mechanism)
  if (slotsFrom === undefined || slotsUntil === undefined || hours === undefined) return []
  const slots = { name, timeZone, slotsFrom, slotsUntil, hours, maxCapacityPerSlot: 1 }
  const timetable = timetableOf({ ...slots, slotDurationMinutes: slotDurationMinutes!, bufferMinutes: bufferMinutes! })
  if (slotsBetween(timetable, slotsFrom, slotsUntil).next().value === undefined) {
    const message = `${quoted(name)} has no slot: no opening hours are between its first and its last day.`
    return [error("NO_SLOTS", message, at(mechanism, "hours"))]
  }
  if (openAt === undefined || slotsBetween(timetable, openAt, slotsUntil).next().value !== undefined) return []
  const message = `When ${quoted(name)} opens, on ${inWords(openAt, timeZone)}, its last slot has begun.`
  return [error("SLOTS_OVER_AT_OPENING", message, at(mechanism, "slotsUntil"))]
}

const waitlistFindings = ({ mechanisms }: CheckedSequence): ReadonlyArray<Finding> => {
  const others = mechanisms.filter((one) => !collectsInterest(one))
  return mechanisms.flatMap((mechanism) => {
    if (!collectsInterest(mechanism) || others.length > 0) return []
    const message = `Nothing in the sequence of ${quoted(mechanism.settings.name)} ever opens, so its members are never notified.`
    return [warning("WAITLIST_WITHOUT_OPENING", message, at(mechanism, "sequenceId"))]
  })
}

const guestFindings = ({ id, name, orderLimitPerConsumer, mechanisms }: CheckedSequence): ReadonlyArray<Finding> => {
  const open = mechanisms.filter((one) => !collectsInterest(one) && one.settings.supportsGuest !== false)
  if (orderLimitPerConsumer === null || open.length === 0) return []
  const names = open.map(({ settings }) => quoted(settings.name)).join(", ")
  const message = `${quoted(name)} limits the orders of a consumer, but ${names} also takes guests, who can come again as others.`
  return [warning("GUESTS_WITH_ORDER_LIMIT", message, { record: "sequence", id, field: "orderLimitPerConsumer" })]
}

const audienceFindings = ({ id, name, audience, mechanisms }: CheckedSequence): ReadonlyArray<Finding> => {
  if (audience === undefined || audience.memberCount > 0 || mechanisms.length === 0) return []
  const message = `${quoted(name)} is only for the audience ${quoted(audience.name)}, which has no members. Nobody can enter.`
  return [error("AUDIENCE_EMPTY", message, { record: "sequence", id, field: "audienceId" })]
}
