/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import type { ExtractTag } from "effect/Types"
import { authored } from "../mechanism/Author.ts"
import { unchanged } from "../mechanism/Administration.ts"
import type { Moment } from "../mechanism/Decider.ts"
import { sha256OfHex } from "../values/Digest.ts"
import * as Configuring from "../mechanism/Configuring.ts"
import { expiringGrants } from "../mechanism/extension/Extension.ts"
import { grantRules } from "../mechanism/Grants.ts"
import { AlreadyGranted, Closed, Full, GuestsRefused, NotEntered, NotOpen, WrongStatus } from "../mechanism/Refusals.ts"
import { sameRiskWeight } from "../risk/RiskWeight.ts"
import { isClosed } from "../mechanism/State.ts"
import { unitRules } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { type Configuration, placesMax } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { awaitsBeacon, type State, type Status, statusAsOf, unitUse } from "./State.ts"

export { hasOpened } from "../mechanism/State.ts"

type Outcome = ReadonlyArray<Event> | Refusal

const grants = grantRules<State, Status>({ statusOf, waiting: ["ENTERED"], granted: "WON" })

/** The grants that an extension moves. */
export const liveGrants = expiringGrants

/** When to try again at a full draw. No one can know when a consumer withdraws. */
const retryAfterSeconds = 60

/** The settings that decide who wins. They are fixed from the first entry on, so that they are the same for all. */
const fixedByEntry = ["loyaltyBiasEnabled", "loyaltyWeight", "riskWeight", "beacon"] as const

export const created = (
  command: ExtractTag<Command, "Configure">,
  at: Millis,
  entropy: Moment["entropy"]
): ReadonlyArray<Event> => [
  ...Configuring.first(command, at),
  { _tag: "SeedDrawn", at, seed: entropy() + entropy(), salt: entropy() }
]

/** The drawing follows the closing. */
export const movesWithClosing = ({ drawAt }: Configuration, millis: Millis) => ({ drawAt: drawAt + millis })

/** The opening and the stock cannot change once the opening has passed. */
export const fixedSetting = (state: State, next: Configuration, at: Millis): keyof Configuration | undefined => {
  const { configured, places } = state
  const setting = Configuring.fixedAtOpening(state, next, at)
  if (setting !== undefined) return setting
  return places.size > 0 ? fixedByEntry.find((setting) => !isSame(setting, next, configured)) : undefined
}

const isSame = (setting: (typeof fixedByEntry)[number], a: Configuration, b: Configuration): boolean =>
  setting === "riskWeight" ? sameRiskWeight(a, b) : a[setting] === b[setting]

/** Whether nothing is left to end. */
export const isOver = ({ overAt, endedBy, tornDown }: State): boolean =>
  overAt !== Infinity || endedBy !== undefined || tornDown

const provideBeacon = (
  state: State,
  { round, randomness, signature, isSimulated }: ExtractTag<Command, "ProvideBeacon">,
  at: Millis
): Outcome => {
  if (round !== awaitsBeacon(state) || sha256OfHex(signature) !== randomness) return unchanged
  return [{ _tag: "BeaconProvided", at, round, randomness, signature, ...(isSimulated && { isSimulated }) }]
}

const enter = (
  state: State,
  { consumerId, isGuest, loyaltyScore }: ExtractTag<Command, "Enter">,
  at: Millis
): Outcome => {
  const place = state.places.get(consumerId)
  if (place !== undefined && place.status !== "LEFT") return unchanged
  if (isClosed(state, at)) return new Closed()
  const { supportsGuest, openAt, capacity } = state.configuration
  if (isGuest && !supportsGuest) return new GuestsRefused()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (state.counts.ENTERED >= (capacity ?? Infinity) || (place === undefined && state.places.size >= placesMax)) {
    return new Full({ retryAfterSeconds })
  }
  const score = Math.round(Math.min(1, loyaltyScore) * 1_000_000) / 1_000_000
  return [{ _tag: "Entered", at, consumerId, ...(score > 0 && { loyaltyScore: score }) }]
}

const leave = (state: State, { consumerId, by }: ExtractTag<Command, "Leave">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  switch (status) {
    case "ENTERED":
      return [{ _tag: "Left", at, consumerId, ...authored(by) }]
    case "NOT_ENTERED":
      return new NotEntered()
    case "WON":
    case "COMPLETED":
      return new AlreadyGranted()
    case "DENIED":
      return new WrongStatus({ status })
  }
}

/** A consumer who left counts as one who never entered. */
function statusOf(state: State, consumerId: string, at: Millis): Exclude<Status, "LEFT"> | "NOT_ENTERED" {
  const place = state.places.get(consumerId)
  const status = place === undefined ? "LEFT" : statusAsOf(state, place, at)
  return status === "LEFT" ? "NOT_ENTERED" : status
}

/** The decision on each command of a draw. */
export const decisions = {
  ProvideBeacon: provideBeacon,
  Enter: enter,
  Leave: leave,
  Deny: grants.deny,
  Complete: grants.complete,
  Remove: grants.remove,
  SettleUnits: unitRules(unitUse).settle
}
