/** The visit of a guest to a mechanism of each kind: it enters, reads, acts, and ends in one of several random ways. */
import { declarations } from "../../../src/domain/mechanism/Mechanism.ts"
import type { Guest } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import type { Body } from "../support/HttpConnections.ts"
import type { Kind } from "../invariants/Invariants.ts"

/** A mechanism in a load. */
export interface Loaded {
  readonly kind: Kind
  readonly id: string
  /** A queue that admits by hand: the shop admits. */
  readonly byHand?: boolean
  /** A queue whose grants are renewed: the shop says that it has seen the guest. */
  readonly isRenewed?: boolean
  /** An auction whose price falls. */
  readonly isDutch?: boolean
  /** The slots of an appointment that may be booked. */
  readonly slotIds?: ReadonlyArray<string>
}

/**
 * A guest in a mechanism, with the requests that the guest, the shop and an admin send. The ledger receives each
 * response.
 */
export interface Visitor {
  readonly guest: Guest
  readonly dice: Dice
  /** Sends a consumer's request. Returns undefined if it was refused. */
  readonly act: (action: string, body?: object) => Promise<Body | undefined>
  /** Sends the shop's request about this consumer. Returns whether it succeeded. */
  readonly shop: (action: string, body?: object) => Promise<boolean>
  /** Sends an admin's request about this consumer. Returns whether it succeeded. */
  readonly admin: (action: string) => Promise<boolean>
  /** Reads the consumer's place. Sometimes another client reads a place too. */
  readonly look: () => Promise<Body>
  /** Reads a public view of the mechanism. */
  readonly see: (what: string) => Promise<Body>
  readonly rest: (millisMax: number) => Promise<void>
}

/** Returns true if the guest cannot visit any mechanism of this kind again. */
type Visit = (mechanism: Loaded, visitor: Visitor) => Promise<boolean>

const queue: Visit = async ({ byHand, isRenewed }, { act, look, shop, dice, rest }) => {
  if ((await act("enter")) === undefined) return false
  for (let looks = dice.between(1, 8); looks > 0; looks--) {
    const { status, admissionGrant } = await look()
    if (status === "GRANTED" && isRenewed === true && dice.chance(0.3)) {
      await rest(1_200)
      await shop("renew", { grants: [admissionGrant] })
    }
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

/** Returns the mechanism's path on both APIs. */
export const pathOf = ({ kind, id }: Loaded): string => `/${declarations[kind].path}/${id}`

/** Returns the path of a consumer's place. */
export const statusPathOf = (mechanism: Loaded): string =>
  `${pathOf(mechanism)}/${mechanism.kind === "appointment" ? "me" : "status"}`
