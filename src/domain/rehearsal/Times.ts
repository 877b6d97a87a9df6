/** Findings about openings, closings and zones. */
import type { Millis } from "../values/Time.ts"
import { dayMillis } from "../values/WallClock.ts"
import {
  type CheckedDrop,
  type CheckedMechanism,
  collectsInterest,
  inWords,
  localTime,
  mechanismsOf,
  quoted
} from "./CheckedDrop.ts"
import { error, type Finding, warning } from "./Finding.ts"

/** Before this hour of the local day an opening was probably meant for another zone. */
const morning = 6

/** A lobby that opens this shortly before its queue brings nobody together. */
const lobbyMillisMin = 60_000

export const timeFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => [
  ...experienceFindings(drop),
  ...mechanismsOf(drop).flatMap((mechanism) => [
    ...windowFindings(drop, mechanism),
    ...zoneFindings(drop, mechanism),
    ...lobbyFindings(mechanism)
  ])
]

const experienceFindings = ({ now, experience }: CheckedDrop): ReadonlyArray<Finding> => {
  const { id, closeAt, timeZone } = experience
  if (closeAt === undefined || closeAt > now) return []
  const message = `The drop closed on ${inWords(closeAt, timeZone)}. Nobody can take part any more.`
  return [error("EXPERIENCE_OVER", message, { record: "experience", id, field: "closeAt" })]
}

/** A mechanism that never opens, or no longer, has one finding alone. */
const windowFindings = (drop: CheckedDrop, mechanism: CheckedMechanism): ReadonlyArray<Finding> => {
  const { now, experience } = drop
  if (experience.closeAt !== undefined && experience.closeAt <= now) return []
  const { id, settings } = mechanism
  const { name, openAt, closeAt } = settings
  const say = (at: Millis) => inWords(at, experience.timeZone)
  const at = (field: string) => ({ record: "distribution", id, field }) as const
  // A waitlist comes before the drop, so the opening of the drop does not bound it.
  const opening = collectsInterest(mechanism) ? undefined : experience.openAt
  if (openAt !== undefined && experience.closeAt !== undefined && openAt >= experience.closeAt) {
    const message = `${quoted(name)} opens on ${say(openAt)}, after the drop closes on ${say(experience.closeAt)}. It never opens.`
    return [error("OPENS_AFTER_EXPERIENCE_CLOSES", message, at("openAt"))]
  }
  if (closeAt !== undefined && opening !== undefined && closeAt <= opening) {
    const message = `${quoted(name)} closes on ${say(closeAt)}, before the drop opens on ${say(opening)}. It never opens.`
    return [error("CLOSES_BEFORE_EXPERIENCE_OPENS", message, at("closeAt"))]
  }
  if (closeAt !== undefined && closeAt <= now) {
    const message = `${quoted(name)} closed on ${say(closeAt)}. Nobody can enter any more.`
    return [error("MECHANISM_OVER", message, at("closeAt"))]
  }
  const findings: Array<Finding> = []
  if (openAt !== undefined && opening !== undefined && openAt < opening) {
    const message = `${quoted(name)} is set to open on ${say(openAt)}, but the drop opens only on ${say(opening)}.`
    findings.push(warning("OPENS_BEFORE_EXPERIENCE", message, at("openAt")))
  }
  if (closeAt !== undefined && experience.closeAt !== undefined && closeAt > experience.closeAt) {
    const message = `${quoted(name)} is set to close on ${say(closeAt)}, but the drop already closes on ${say(experience.closeAt)}.`
    findings.push(warning("CLOSES_AFTER_EXPERIENCE", message, at("closeAt")))
  }
  return findings
}

const zoneFindings = ({ now, experience }: CheckedDrop, { id, settings }: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, timeZone, openAt } = settings
  const findings: Array<Finding> = []
  if (timeZone !== experience.timeZone) {
    const message = `${quoted(name)} is in the zone ${timeZone}, the drop in ${experience.timeZone}. Rooms would show two local times.`
    findings.push(warning("TIME_ZONE_DIFFERS", message, { record: "distribution", id, field: "timeZone" }))
  }
  const isAtNight =
    openAt !== undefined && (localTime(openAt, experience.timeZone) % dayMillis) / 3_600_000 < morning && openAt > now
  if (isAtNight) {
    const message = `${quoted(name)} opens at night, on ${inWords(openAt, experience.timeZone)}. Check the date and the zone.`
    findings.push(warning("OPENS_AT_NIGHT", message, { record: "distribution", id, field: "openAt" }))
  }
  return findings
}

const lobbyFindings = ({ id, settings }: CheckedMechanism): ReadonlyArray<Finding> => {
  const { name, lobbyOpenAt, openAt } = settings
  if (lobbyOpenAt === undefined || openAt === undefined || openAt - lobbyOpenAt >= lobbyMillisMin) return []
  const message = `The lobby of ${quoted(name)} opens only ${Math.round((openAt - lobbyOpenAt) / 1_000)} s before the queue. Its order is drawn among those who came by then.`
  return [warning("LOBBY_TOO_SHORT", message, { record: "distribution", id, field: "lobbyOpenAt" })]
}
