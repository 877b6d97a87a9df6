/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import type { ExtractTag } from "effect/Types"
import { unchanged } from "../mechanism/Administration.ts"
import { reasoned } from "../mechanism/Author.ts"
import { hasReachedLimit } from "../mechanism/GrantRecord.ts"
import { expiringGrants } from "../mechanism/extension/Extension.ts"
import { grantRules } from "../mechanism/Grants.ts"
import {
  AdmissionsUsedUp,
  Closed,
  Full,
  GrantLimitReached,
  GuestsRefused,
  InsideLimitReached,
  InvalidGrant,
  NotOpen,
  NotRenewable,
  SoldOut,
  WrongStatus
} from "../mechanism/Refusals.ts"
import { sameRiskWeight } from "../risk/RiskWeight.ts"
import { isClosed } from "../mechanism/State.ts"
import { unitRules } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import { isAdmittedAtOnce } from "./Pacing.ts"
import type { Command, Refusal } from "./Protocol.ts"
import {
  admissionsLeft,
  hasExpired,
  insideLeft,
  isInLobby,
  type Place,
  placesMax,
  type State,
  type Status,
  statusAsOf,
  unitsLeft,
  unitUse
} from "./State.ts"
import { expiryOf } from "./Timed.ts"

type Outcome = ReadonlyArray<Event> | Refusal

const grants = grantRules<State, Status>({ statusOf, waiting: ["QUEUED"], granted: "GRANTED" })

const units = unitRules(unitUse)

/** The grants that an extension moves. */
export const liveGrants = expiringGrants

/** The openings, the stock and the weight of the risk cannot change once an opening has passed or a consumer has entered. */
export const fixedSetting = (state: State, next: Configuration, at: Millis): keyof Configuration | undefined => {
  if (state.places.size === 0 && !hasOpened(state, at)) return undefined
  const opening = (["openAt", "lobbyOpenAt", "stockId"] as const).find(
    (setting) => next[setting] !== state.configured[setting]
  )
  return opening ?? (sameRiskWeight(next, state.configured) ? undefined : "riskWeight")
}

const enter = (state: State, command: ExtractTag<Command, "Enter">, at: Millis): Outcome => {
  const place = state.places.get(command.consumerId)
  if (place !== undefined && !mayEnterAgain(state, place, at)) return unchanged
  if (isClosed(state, at)) return new Closed()
  const { supportsGuest, lobbyOpenAt, openAt, capacity, grantsPerConsumer } = state.configuration
  if (place !== undefined && hasReachedLimit(place, grantsPerConsumer)) return new GrantLimitReached()
  if (command.isGuest && !supportsGuest) return new GuestsRefused()
  const opensAt = lobbyOpenAt ?? openAt
  if (opensAt !== undefined && at < opensAt) return new NotOpen({ opensAt })
  if (state.counts.QUEUED >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds: secondsUntilPlaceFrees(state, at) })
  }
  const entered = enteredEvent(command, at)
  if (place?.status === "GRANTED") return [expiryOf(place, Math.max(state.lastAt, place.order)), entered]
  if (!isAdmittedAtOnce(state, at)) return [entered]
  return [entered, { _tag: "Granted", at, consumerId: command.consumerId }]
}

const admit = (state: State, { consumerId, by, reason }: ExtractTag<Command, "Admit">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "GRANTED") return unchanged
  if (isClosed(state, at)) return new Closed()
  if (status !== "QUEUED") return new WrongStatus({ status })
  if (admissionsLeft(state) <= 0) return new AdmissionsUsedUp()
  if (insideLeft(state) <= 0) return new InsideLimitReached()
  if (unitsLeft(state) <= 0) return new SoldOut({})
  return [{ _tag: "Granted", at, consumerId, by, ...reasoned(reason) }]
}

/** In the lobby the places have no order yet. */
const admitNext = (state: State, { count, by, reason }: ExtractTag<Command, "AdmitNext">, at: Millis): Outcome => {
  if (isClosed(state, at)) return new Closed()
  if (isInLobby(state) || !hasOpened(state, at)) return new NotOpen({ opensAt: state.configuration.openAt ?? at })
  if (admissionsLeft(state) <= 0) return new AdmissionsUsedUp()
  if (insideLeft(state) <= 0) return new InsideLimitReached()
  if (unitsLeft(state) <= 0) return new SoldOut({})
  const most = Math.min(count, admissionsLeft(state), insideLeft(state), unitsLeft(state))
  return state.waiting
    .head(most)
    .map(({ consumerId }) => ({ _tag: "Granted", at, consumerId, by, ...reasoned(reason) }))
}

/** The least by which a renewal moves the end of a grant. So a grant has few events, however often it is seen. */
const renewalMillisMin = 1_000

/** A renewal never makes a grant end earlier, nor later than its token. */
const renew = (state: State, { consumerId, grantSequence }: ExtractTag<Command, "Renew">, at: Millis): Outcome => {
  const { admissionRenewal } = state.configuration
  if (admissionRenewal === undefined) return new NotRenewable()
  const place = state.places.get(consumerId)
  const status = statusOf(state, consumerId, at)
  if (place === undefined || status !== "GRANTED") return new WrongStatus({ status })
  const { order, grants: record } = place
  if (record?.sequence !== grantSequence) return new InvalidGrant()
  const expiresAt = Math.min(at + admissionRenewal.idleSeconds * 1_000, record.expiresAt)
  return expiresAt - order < renewalMillisMin ? unchanged : [{ _tag: "Renewed", at, consumerId, expiresAt }]
}

/** A pause may begin before the opening. It ends with the queue. */
const changePause = (state: State, command: ExtractTag<Command, "Pause" | "Resume">, at: Millis): Outcome => {
  if (isClosed(state, at)) return new Closed()
  const isPaused = state.pause !== undefined
  if (isPaused === (command._tag === "Pause")) return unchanged
  return [{ _tag: isPaused ? "Resumed" : "Paused", at, by: command.by, ...reasoned(command.reason) }]
}

/** Takes and gives units, and notes whether more may come. */
const settleUnits = (state: State, command: ExtractTag<Command, "SettleUnits">, at: Millis): Outcome => {
  const events = units.settle(state, command, at)
  const { mayReturn = state.mayReturn } = command
  return mayReturn === state.mayReturn || isClosed(state, at)
    ? events
    : [...events, { _tag: "SupplyNoted", at, mayReturn }]
}

function statusOf(state: State, consumerId: string, at: Millis) {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_QUEUED" : statusAsOf(state, place, at)
}

/**
 * A consumer who left, or let a grant expire, may take a new place at the end while the queue is open. One who used its
 * grant may do so only where an admin has set how many grants a consumer may have.
 */
const mayEnterAgain = (state: State, place: Place, at: Millis): boolean =>
  !isClosed(state, at) &&
  (place.status === "LEFT" ||
    (place.status === "COMPLETED" && state.configuration.grantsPerConsumer !== undefined) ||
    hasExpired(place, at) ||
    (place.status === "DENIED" && place.reason === "ADMISSION_EXPIRED"))

/** An absent `openAt` means open from the beginning. The opening of the lobby counts as the opening. */
export const hasOpened = (state: State, at: Millis): boolean =>
  state.lobbyOpened || (state.configuration.openAt ?? 0) <= at

const enteredEvent = ({ consumerId, loyaltyScore }: ExtractTag<Command, "Enter">, at: Millis): Event =>
  loyaltyScore > 0
    ? { _tag: "Entered", at, consumerId, loyaltyScore: Math.min(1, loyaltyScore) }
    : { _tag: "Entered", at, consumerId }

/** Seconds from `at` to the next admission; a minute if it cannot be known. */
const secondsUntilPlaceFrees = (state: State, at: Millis): number => {
  const { admitRate, openAt } = state.configuration
  const isShut = admissionsLeft(state) <= 0 || insideLeft(state) <= 0 || unitsLeft(state) <= 0
  const isUnknown = admitRate === 0 || state.pause !== undefined || isShut
  const spacing = isUnknown ? 60 : Math.ceil(60 / admitRate)
  return isInLobby(state) ? Math.max(0, Math.ceil((openAt! - at) / 1000)) + spacing : spacing
}

/** The decision on each command of a queue. */
export const decisions = {
  AdmitNext: admitNext,
  Pause: changePause,
  Resume: changePause,
  Enter: enter,
  Admit: admit,
  Leave: grants.leave,
  Deny: grants.deny,
  Complete: grants.complete,
  Renew: renew,
  Remove: grants.remove,
  SettleUnits: settleUnits
}
