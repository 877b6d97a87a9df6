/**
 * The types of events that webhooks report, and the events of mechanisms that they come from.
 *
 * Only the fields listed here leave the journal. A new field of an event is private until a row names it, so seeds,
 * salts and confirmation codes cannot leak.
 */
import type { Kind } from "../mechanism/Decider.ts"

/** A type, and the fields of the journal's event that its `data` contains, by the name they have there. */
interface Reported {
  readonly type: string
  readonly fields?: { readonly [field: string]: string }
}

type Row = readonly [Reported, ...ReadonlyArray<Reported>]

const joined: Row = [{ type: "distribution.joined" }]
const admitted: Row = [{ type: "distribution.admitted" }]
const won: Row = [{ type: "distribution.admitted" }, { type: "distribution.winner_selected" }]
const completed: Row = [{ type: "distribution.completed" }]
const left: Row = [{ type: "distribution.left" }]
const denied: Row = [{ type: "distribution.denied", fields: { reason: "reason" } }]
const extended: Row = [{ type: "distribution.extended", fields: { expiresAt: "expires_at" } }]
const expired: Row = [{ type: "distribution.expired" }]
const slot = { bookingId: "booking_id", startTime: "start_time", endTime: "end_time" }

const ofEveryKind: { readonly [event: string]: Row } = {
  Configured: [{ type: "distribution.updated" }],
  Closed: [{ type: "distribution.closed" }],
  Ended: [{ type: "distribution.ended" }]
}

/** The types of each event, by kind of mechanism. Webhooks do not report other events. */
export const reportedEvents: { readonly [K in Kind]: { readonly [event: string]: Row } } = {
  queue: {
    ...ofEveryKind,
    Opened: [{ type: "distribution.opened" }],
    Entered: joined,
    Granted: admitted,
    Completed: completed,
    Left: left,
    Denied: denied,
    Expired: expired,
    Paused: [{ type: "distribution.paused", fields: { reason: "reason" } }],
    Resumed: [{ type: "distribution.resumed", fields: { reason: "reason" } }],
    GrantExtended: extended
  },
  draw: {
    ...ofEveryKind,
    Entered: joined,
    Left: left,
    Won: won,
    Drawn: [{ type: "distribution.drawn" }],
    Completed: completed,
    Denied: denied,
    Expired: expired,
    GrantExtended: extended
  },
  auction: {
    ...ofEveryKind,
    Entered: joined,
    BidPlaced: [{ type: "distribution.bid_placed", fields: { amount: "amount" } }],
    Outbid: [{ type: "distribution.outbid" }],
    Extended: [{ type: "distribution.updated", fields: { closeAt: "close_at" } }],
    Won: won,
    Completed: completed,
    Denied: denied,
    Expired: expired,
    GrantExtended: extended
  },
  timed_release: {
    ...ofEveryKind,
    Entered: [{ type: "distribution.joined" }, { type: "distribution.admitted", fields: { variantId: "variant_id" } }],
    Completed: completed,
    Left: left,
    Denied: denied,
    Expired: expired,
    GrantExtended: extended
  },
  appointment: {
    ...ofEveryKind,
    Booked: [{ type: "distribution.joined", fields: slot }],
    Rescheduled: [{ type: "distribution.rescheduled", fields: slot }],
    CheckedIn: [{ type: "distribution.checked_in" }],
    Completed: completed,
    Cancelled: [{ type: "distribution.cancelled" }],
    Missed: [{ type: "distribution.no_show" }]
  },
  waitlist: {
    ...ofEveryKind,
    Entered: joined,
    Left: left,
    Denied: denied,
    Notified: [{ type: "distribution.notified", fields: { channel: "channel" } }]
  }
}

/** A type with the sentence that describes it. */
const descriptions = {
  "distribution.joined": "A consumer entered a mechanism or booked a slot.",
  "distribution.admitted": "A consumer received a grant.",
  "distribution.winner_selected": "A consumer won a draw or an auction.",
  "distribution.bid_placed": "An auction accepted a bid.",
  "distribution.completed": "A grant was redeemed, or an appointment took place.",
  "distribution.left": "A consumer left.",
  "distribution.denied": "A place or a grant ended with a denial.",
  "distribution.expired": "A consumer did not use a grant in time.",
  "distribution.extended": "An admin moved the expiry of a consumer's grant.",
  "distribution.outbid": "A higher bid replaced a consumer's bid among the leading ones.",
  "distribution.opened": "The lobby of a queue was put in order.",
  "distribution.paused": "An admin stopped admission by rate in a queue.",
  "distribution.resumed": "The rate admits consumers to a queue again.",
  "distribution.closed": "The closing time of a mechanism passed.",
  "distribution.ended": "An admin ended a mechanism.",
  "distribution.updated": "A mechanism was created, its settings changed, or a late bid or an admin moved its closing.",
  "distribution.drawn": "A draw was drawn.",
  "distribution.cancelled": "A booking was cancelled.",
  "distribution.rescheduled": "A booking moved to another slot.",
  "distribution.checked_in": "A consumer was checked in to an appointment.",
  "distribution.no_show": "A consumer did not come to an appointment.",
  "distribution.notified": "A member of a waitlist was notified that its sequence is open.",
  "consumer.created": "A consumer was created, signed in for the first time, or was restored.",
  "consumer.updated": "Fields of a consumer changed.",
  "consumer.deleted": "A consumer was archived.",
  "experience.created": "An experience was created or restored.",
  "experience.activated": "An experience opened: its opening time passed, or without one its first mechanism opened.",
  "experience.completed":
    "An experience closed: its closing time passed, or without one its last mechanism closed or ended.",
  "experience.cancelled": "An experience was archived.",
  "order.created": "An order was created.",
  "order.paid": "An order is paid.",
  "order.fulfilled": "An order is fulfilled.",
  "order.cancelled": "An order was cancelled.",
  "order.needs_attention": "A payment or a refund at a provider needs a person's decision.",
  "webhook.failed": "Deliveries to another webhook failed permanently.",
  "webhook.disabled": "Another webhook was disabled."
} as const

/** A type that an endpoint can subscribe to. */
export type EventType = keyof typeof descriptions

/** The types in the order of the reference. */
export const eventTypes = Object.keys(descriptions) as ReadonlyArray<EventType> as readonly [EventType, ...EventType[]]

/** Returns the description of a type. */
export const descriptionOf = (type: EventType): string => descriptions[type]

/** Returns the events of a kind of mechanism that lead to one of the types. */
export const eventsFor = (kind: Kind, types: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(reportedEvents[kind])
    .filter(([, row]) => row.some(({ type }) => types.includes(type)))
    .map(([event]) => event)
