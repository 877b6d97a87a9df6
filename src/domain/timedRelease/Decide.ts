/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import type { ExtractTag } from "effect/Types"
import { fixedAtOpening } from "../mechanism/Configuring.ts"
import { unchanged } from "../mechanism/Administration.ts"
import { hasReachedLimit } from "../mechanism/GrantRecord.ts"
import { expiringGrants } from "../mechanism/extension/Extension.ts"
import { grantRules } from "../mechanism/Grants.ts"
import { Closed, GrantLimitReached, GuestsRefused, NotOpen, SoldOut, UnknownVariant } from "../mechanism/Refusals.ts"
import { isClosed } from "../mechanism/State.ts"
import { unitRules } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { hasExpired, type Place, placesMax, type State, type Status, statusAsOf, unitsLeft, unitUse } from "./State.ts"

export { hasOpened } from "../mechanism/State.ts"

type Outcome = ReadonlyArray<Event> | Refusal

const grants = grantRules<State, Status>({ statusOf, granted: "ENTERED" })

/** The grants that an extension moves. */
export const liveGrants = expiringGrants

/** The opening and the stock cannot change once the opening has passed. */
export const fixedSetting = fixedAtOpening

const enter = (state: State, command: ExtractTag<Command, "Enter">, at: Millis): Outcome => {
  const { consumerId, isGuest, variantId } = command
  const place = state.places.get(consumerId)
  const status = place === undefined ? undefined : statusAsOf(place, at)
  if (status === "ENTERED") return select(state, place!, command, at)
  const { supportsGuest, openAt, grantsPerConsumer } = state.configuration
  // A consumer may go on after a completed grant only where an admin has set how many it may have.
  if (status === "DENIED" || (status === "COMPLETED" && grantsPerConsumer === undefined)) return unchanged
  if (isClosed(state, at)) return status === undefined ? new Closed() : unchanged
  if (place !== undefined && hasReachedLimit(place, grantsPerConsumer)) return new GrantLimitReached()
  if (isGuest && !supportsGuest) return new GuestsRefused()
  if (openAt !== undefined && at < openAt) return new NotOpen({ opensAt: openAt })
  if (!isOffered(state, command)) return new UnknownVariant()
  const expired = unnoticedExpiry(state, place, at)
  if (unitsLeft(state) + (expired === undefined ? 0 : 1) <= 0) return soldOut(state, at)
  if (place === undefined && state.places.size >= placesMax) return new SoldOut({})
  const entered: Event = { _tag: "Entered", at, consumerId, ...(variantId !== undefined && { variantId }) }
  if (expired === undefined) return [entered]
  return [{ _tag: "Expired", at: Math.max(state.lastAt, expired.order), consumerId: expired.consumerId }, entered]
}

/**
 * Changes the selection. It belongs to the grant, so it can change while the grant is valid, also after the closing.
 */
const select = (state: State, place: Place, command: ExtractTag<Command, "Enter">, at: Millis): Outcome => {
  const { variantId } = command
  if (variantId === undefined || variantId === place.variantId) return unchanged
  if (!isOffered(state, command)) return new UnknownVariant()
  return [{ _tag: "Selected", at, consumerId: place.consumerId, variantId }]
}

function statusOf(state: State, consumerId: string, at: Millis) {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_ENTERED" : statusAsOf(place, at)
}

const isOffered = (
  { offered }: State,
  { variantId, isUnassigned, isNotOffered }: ExtractTag<Command, "Enter">
): boolean =>
  variantId === undefined ||
  (isUnassigned !== true && (offered === undefined ? isNotOffered !== true : offered.has(variantId)))

/**
 * Returns an expired grant whose expiry must be recorded before this entry: the consumer's own, or the one whose unit
 * the entry takes.
 */
const unnoticedExpiry = (state: State, own: Place | undefined, at: Millis): Place | undefined => {
  if (own !== undefined && hasExpired(own, at)) return own
  const next = state.expiring.first
  return unitsLeft(state) <= 0 && next !== undefined && hasExpired(next, at) ? next : undefined
}

/** Returns the refusal. A unit becomes free when the next grant expires, if the release is still open then. */
const soldOut = (state: State, at: Millis): SoldOut => {
  const freeAt = state.expiring.first?.order ?? Infinity
  const lasts = freeAt < (state.configuration.closeAt ?? Infinity)
  return new SoldOut(freeAt !== Infinity && lasts ? { retryAfterSeconds: Math.ceil((freeAt - at) / 1000) } : {})
}

/** The decision on each command of a timed release. */
export const decisions = {
  Enter: enter,
  Leave: grants.leave,
  Deny: grants.deny,
  Complete: grants.complete,
  Remove: grants.remove,
  SettleUnits: unitRules(unitUse).settle
}
