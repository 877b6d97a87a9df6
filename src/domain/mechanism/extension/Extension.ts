/**
 * Extends a mechanism after an outage. An admin moves the expiry of the grants that consumers hold, and the closing if
 * it has not passed. It is the same for every kind; a kind declares its grants, and the instants that move with its
 * closing.
 *
 * A mechanism can hold more grants than fit into one commit. So a command extends some of them, in the order of their
 * consumers' ids, and the caller repeats it after the last of these.
 */
import { Schema } from "effect"
import type { Windowed } from "../../experience/ExperienceWindow.ts"
import { type Millis, Timestamp } from "../../values/Time.ts"
import type { GrantRecord } from "../GrantRecord.ts"
import type { IndexedList, Member } from "../IndexedList.ts"

/** Grants that one command extends. */
export const extendedAtOnce = 1_000

/** The longest extension. */
export const extensionSecondsMax = 31_536_000

/** By how much, or up to which instant at least. An extension never makes anything earlier. */
export type ExtensionBy = { readonly seconds: number } | { readonly until: Millis }

export interface Extend {
  readonly _tag: "Extend"
  readonly to: ExtensionBy
  /** Extends only grants of consumers with greater ids, and not the closing. Absent: it is the first command. */
  readonly after?: string | undefined
  /** The name of the author. */
  readonly by: string
}

/** The event of the kinds that make grants. */
export const grantExtended = {
  /** The expiry of the consumer's grant was moved. */
  GrantExtended: { at: Schema.Finite, consumerId: Schema.String, expiresAt: Timestamp, by: Schema.String }
}

interface GrantExtended {
  readonly _tag: "GrantExtended"
  readonly at: Millis
  readonly consumerId: string
  readonly expiresAt: Millis
  readonly by: string
}

/** A grant that a consumer holds and that expires. */
export interface LiveGrant {
  readonly consumerId: string
  readonly expiresAt: Millis
}

/** Returns the instant to which an extension moves another one. */
export const extended = (to: ExtensionBy, instant: Millis): Millis =>
  "seconds" in to ? instant + to.seconds * 1_000 : Math.max(instant, to.until)

/** Returns the events for the next grants. */
export const extendGrants = (
  { to, after = "", by }: Extend,
  grants: ReadonlyArray<LiveGrant>,
  at: Millis
): ReadonlyArray<GrantExtended> =>
  grants
    .filter(({ consumerId, expiresAt }) => consumerId > after && extended(to, expiresAt) > expiresAt)
    .toSorted((a, b) => (a.consumerId < b.consumerId ? -1 : 1))
    .slice(0, extendedAtOnce)
    .map(({ consumerId, expiresAt }) => ({
      _tag: "GrantExtended",
      at,
      consumerId,
      expiresAt: extended(to, expiresAt),
      by
    }))

/**
 * Returns the settings with a later closing; undefined if it does not move. The closing of the experience's window moves
 * with it, until the experience changes its window.
 */
export const withLaterClosing = <C extends Windowed>(
  configured: C,
  closeAt: Millis | undefined,
  to: ExtensionBy,
  movesToo: (configured: C, millis: Millis) => Partial<C> = () => ({})
): C | undefined => {
  const millis = closeAt === undefined ? 0 : extended(to, closeAt) - closeAt
  if (millis <= 0) return undefined
  const { experienceWindow } = configured
  return {
    ...configured,
    ...(configured.closeAt !== undefined && { closeAt: configured.closeAt + millis }),
    ...(experienceWindow?.closeAt !== undefined && {
      experienceWindow: { ...experienceWindow, closeAt: experienceWindow.closeAt + millis }
    }),
    ...movesToo(configured, millis)
  }
}

/** A place that holds a grant; `order` is when the grant expires. */
interface Extendable<P> extends Member<P> {
  order: Millis
  grants: GrantRecord | undefined
}

/** Returns the grants of a state that lists its places by expiry. */
export const expiringGrants = <P extends Extendable<P> & { readonly consumerId: string }>({
  expiring
}: {
  readonly expiring: IndexedList<P>
}): ReadonlyArray<LiveGrant> =>
  expiring.head(expiring.size).map(({ consumerId, order }) => ({ consumerId, expiresAt: order }))

/** Moves the expiry of a place's grant, if it is in the list. */
export const moveExpiry = <P extends Extendable<P>>(
  expiring: IndexedList<P>,
  place: P | undefined,
  expiresAt: Millis
): void => {
  if (place?.grants === undefined || !expiring.has(place)) return
  expiring.remove(place)
  place.order = expiresAt
  // The token of a grant that is renewed lasts longer already.
  place.grants.expiresAt = Math.max(place.grants.expiresAt, expiresAt)
  expiring.insert(place)
}
