/**
 * Decides each command: returns its events, none if it changes nothing, or a refusal. Deadlines count as they stand at
 * `now`, even if their events are not recorded yet.
 */
import type { ExtractTag } from "effect/Types"
import { ofText } from "../values/Amount.ts"
import { unchanged } from "../mechanism/Administration.ts"
import { reasoned } from "../mechanism/Author.ts"
import type { Moment } from "../mechanism/Decider.ts"
import { closingNoEarlier, type ExperienceWindow } from "../experience/ExperienceWindow.ts"
import { extended, type ExtensionBy } from "../mechanism/extension/Extension.ts"
import { ended } from "../mechanism/GrantRecord.ts"
import { grantRules } from "../mechanism/Grants.ts"
import { Closed, NotOpen, WrongStatus } from "../mechanism/Refusals.ts"
import { isClosed } from "../mechanism/State.ts"
import { unitRules } from "../mechanism/Units.ts"
import type { Millis } from "../values/Time.ts"
import { bid, full, shut } from "./Bidding.ts"
import { type Configuration, isPrice, terms } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { isSoldOut, type State, type Status, statusAsOf, unitUse } from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal

const grants = grantRules<State, Status>({ statusOf, granted: "WON" })

/** A window does not take back a closing that bids have moved, because bidders rely on it. */
export const windowFor = ({ extendedTo }: State, window: ExperienceWindow): ExperienceWindow =>
  closingNoEarlier(window, extendedTo)

/** The grants that an extension moves. */
export const liveGrants = ({ expiring }: State) =>
  expiring.head(expiring.size).map(({ consumerId, expiresAt }) => ({ consumerId, expiresAt }))

/** An admin moves the closing as a late bid does, so bidders learn of it in the same way. */
export const closingMoved = (
  { configuration: { closeAt } }: State,
  to: ExtensionBy,
  by: string,
  at: Millis
): ReadonlyArray<Event> =>
  extended(to, closeAt) > closeAt ? [{ _tag: "Extended", at, closeAt: extended(to, closeAt), by }] : unchanged

export const created = (
  { configuration, by }: ExtractTag<Command, "Configure">,
  at: Millis,
  entropy: Moment["entropy"]
): ReadonlyArray<Event> => [{ _tag: "Configured", at, configuration, by, handleSalt: entropy() }]

export const fixedSetting = (state: State, next: Configuration, at: Millis): keyof Configuration | undefined =>
  hasOpened(state, at) ? terms.find((setting) => !isKept(state, next, setting)) : undefined

/** Keeps the times to which late bids have moved it. */
export const kept = (state: State, next: Configuration, at: Millis): Configuration => {
  const { closeAt, settleAt } = state.configured
  return hasOpened(state, at) ? { ...next, closeAt, settleAt } : next
}

/**
 * True if the admin keeps a time, even as it was before late bids moved it: the admin may not know the last bids yet.
 */
const isKept = ({ configured, lastSet }: State, wanted: Configuration, setting: keyof Configuration): boolean =>
  setting === "closeAt" || setting === "settleAt"
    ? lastSet[setting] <= wanted[setting] && wanted[setting] <= configured[setting]
    : isSame(setting, wanted[setting], configured[setting])

/** Compares two values of a setting. Prices are equal whatever their notation. */
const isSame = <S extends keyof Configuration>(setting: S, a: Configuration[S], b: Configuration[S]): boolean =>
  isPrice(setting) && typeof a === "string" && typeof b === "string" ? ofText(a) === ofText(b) : a === b

/** An absent `openAt` means open from the beginning. */
export const hasOpened = (state: State, at: Millis): boolean => (state.configuration.openAt ?? 0) <= at

const enter = (state: State, { consumerId, isGuest = false }: ExtractTag<Command, "Enter">, at: Millis): Outcome => {
  if (state.places.has(consumerId)) return unchanged
  return shut(state, at, isGuest) ?? full(state) ?? [{ _tag: "Entered", at, consumerId }]
}

const deny = (state: State, { consumerId, reason, by }: ExtractTag<Command, "Deny">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "DENIED") return unchanged
  if (status === "NOT_BID" || status === "LOST" || status === "COMPLETED") return new WrongStatus({ status })
  const grant = status === "WON" ? ended(state.places.get(consumerId)?.grants) : {}
  const denied: Event = { _tag: "Denied", at, consumerId, reason, by, ...grant }
  const next = state.behind.first
  return status === "WINNING" && next?.status === "OUTBID"
    ? [denied, { _tag: "Reinstated", at, consumerId: next.consumerId }]
    : [denied]
}

/** Denies an archived consumer, because no consumer leaves an auction. The next best bid leads in its place. */
const remove = (state: State, { consumerId, by }: ExtractTag<Command, "Remove">, at: Millis): Outcome => {
  const outcome = deny(state, { _tag: "Deny", consumerId, reason: "ADMIN_ACTION", by }, at)
  return "_tag" in outcome ? unchanged : outcome
}

function statusOf(state: State, consumerId: string, at: Millis) {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_BID" : statusAsOf(state, place, at)
}

/** The closing and the settlement move to now. An end calls the auction off instead. */
const closeNow = (state: State, { by, reason }: ExtractTag<Command, "CloseNow">, at: Millis): Outcome => {
  const { configuration, configured } = state
  if (isSoldOut(state) || isClosed(state, at)) return new Closed()
  if (!hasOpened(state, at)) return new NotOpen({ opensAt: configuration.openAt! })
  return [
    { _tag: "Configured", at, configuration: { ...configured, closeAt: at, settleAt: at }, by, ...reasoned(reason) }
  ]
}

/** The decision on each command of an auction. */
export const decisions = {
  Enter: enter,
  Bid: bid,
  CloseNow: closeNow,
  Deny: deny,
  Complete: grants.complete,
  Remove: remove,
  SettleUnits: unitRules(unitUse).settle
}
