/**
 * What a guest does in a mechanism of each kind: it enters, looks, does what there is to do, and ends one way or another.
 * Which way is a matter of chance.
 */
import type { Guest } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import type { Body } from "../support/HttpConnections.ts"
import type { Kind } from "../invariants/Invariants.ts"

/** A mechanism that the load may use. */
export interface Loaded {
  readonly kind: Kind
  readonly id: string
  /** A queue that admits by hand: then the shop admits. */
  readonly byHand?: boolean
  /** An auction whose price falls. */
  readonly isDutch?: boolean
  /** The slots of an appointment that may be booked. */
  readonly slotIds?: ReadonlyArray<string>
}

/** A guest in a mechanism, with whoever serves it. Each call that is answered goes into the ledger. */
export interface Visitor {
  readonly guest: Guest
  readonly dice: Dice
  /** A consumer's own request; undefined if it was refused. */
  readonly act: (action: string, body?: object) => Promise<Body | undefined>
  /** The shop's request about this consumer; true if it was done. */
  readonly shop: (action: string, body?: object) => Promise<boolean>
  /** An admin's request about this consumer; true if it was done. */
  readonly admin: (action: string) => Promise<boolean>
  /** How the consumer stands; now and then another looks, too. */
  readonly look: () => Promise<Body>
  /** What anyone may see of the mechanism. */
  readonly see: (what: string) => Promise<Body>
  readonly rest: (millisMax: number) => Promise<void>
}

/** True if the guest cannot come to any mechanism of its kind again. */
type Visit = (mechanism: Loaded, visitor: Visitor) => Promise<boolean>

const queue: Visit = async ({ byHand }, { act, look, shop, dice, rest }) => {
  if ((await act("enter")) === undefined) return false
  for (let looks = dice.between(1, 8); looks > 0; looks--) {
    const { status } = await look()
    if (status === "QUEUED" && byHand === true) {
      if (dice.chance(0.8)) await shop("admit")
      else await shop("deny", { reason: "ADMIN_ACTION" })
    } else if (status === "GRANTED" && dice.chance(0.4)) return shop("complete")
    else if (status !== "QUEUED" && status !== "GRANTED") return false
    if (dice.chance(0.2)) await rest(20)
  }
  await act("leave")
  return false
}

const draw: Visit = async (_, { act, look, shop, dice, rest }) => {
  if ((await act("enter")) === undefined) return false
  if (dice.chance(0.15)) await act("leave")
  for (let looks = dice.between(1, 10); looks > 0; looks--) {
    const { status } = await look()
    if (status === "WON" && dice.chance(0.5)) await shop("complete")
    else if (status !== "ENTERED" && status !== "WON") return false
    else await rest(60)
  }
  return false
}

const auction: Visit = async ({ isDutch }, { act, look, see, shop, dice, rest }) => {
  if (dice.chance(0.2) && (await act("enter")) === undefined) return false
  for (let bids = isDutch === true ? 1 : dice.between(1, 3); bids > 0; bids--) {
    const { currentPrice = "1" } = await see("current-price")
    await act("bid", isDutch === true ? {} : { amount: `${Number(currentPrice) + dice.between(1, 5)}` })
    if ((await look()).status === "NOT_BID") return false
  }
  for (let looks = dice.between(1, 10); looks > 0; looks--) {
    const { status } = await look()
    if (status === "WON" && dice.chance(0.5)) await shop("complete")
    else if (status !== "WON" && status !== "WINNING") return false
    else await rest(60)
  }
  return false
}

const timedRelease: Visit = async (_, { act, look, shop, dice, rest }) => {
  if ((await act("enter", {})) === undefined) return false
  await look()
  await rest(10)
  if (dice.chance(0.3)) await shop("complete")
  else if (dice.chance(0.1)) await shop("deny", { reason: "FRAUD_DETECTED" })
  else if (dice.chance(0.5)) await act("leave")
  await look()
  return false
}

const appointment: Visit = async ({ slotIds = [] }, { act, admin, look, dice, rest }) => {
  for (let bookings = dice.between(1, 2); bookings > 0; bookings--) {
    if ((await act("book", { slotId: dice.pick(slotIds) })) === undefined) return false
    if (dice.chance(0.5)) await act("reschedule", { newSlotId: dice.pick(slotIds) })
    await look()
    await rest(10)
    if (dice.chance(0.05)) return (await admin("check-in")) && admin("complete")
    await act("cancel")
  }
  await look()
  return false
}

const waitlist: Visit = async (_, { act, look, dice, rest }) => {
  if ((await act("enter")) === undefined) return false
  for (let looks = dice.between(1, 4); looks > 0; looks--) {
    await look()
    await rest(20)
  }
  if (dice.chance(0.7)) await act("leave")
  return false
}

export const visits: { readonly [K in Kind]: Visit } = {
  queue,
  draw,
  auction,
  timed_release: timedRelease,
  appointment,
  waitlist
}

const folders: { readonly [K in Kind]: string } = {
  queue: "queues",
  draw: "draws",
  auction: "auctions",
  timed_release: "timed-releases",
  appointment: "appointments",
  waitlist: "waitlists"
}

/** The mechanism's path on both APIs. */
export const pathOf = ({ kind, id }: Loaded): string => `/${folders[kind]}/${id}`

/** Where a consumer sees how it stands. */
export const standingOf = (mechanism: Loaded): string =>
  `${pathOf(mechanism)}/${mechanism.kind === "appointment" ? "me" : "status"}`
