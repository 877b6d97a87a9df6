/**
 * The types of events that webhooks report, and the events of mechanisms that they come from. Each kind of mechanism
 * declares its own.
 */
import { type ActorKind, byKind, declarations, type Kind } from "../mechanism/Mechanism.ts"
import type { ReportedRow } from "../mechanism/ReportedEvents.ts"

/** The types of each event, by kind of mechanism. Webhooks do not report other events. */
export const reportedEvents: { readonly [K in Kind]: { readonly [event: string]: ReportedRow } } = byKind(
  (kind) => declarations[kind].reported
)

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
  "stock.low": "A stock has as few units that are not sold as its `lowAt` says.",
  "stock.empty": "A stock has no unit left that is not sold.",
  "stock.refilled": "A stock that was empty or low has more units that are not sold.",
  "webhook.failed": "Deliveries to another webhook failed permanently.",
  "webhook.disabled": "Another webhook was disabled."
} as const

/** A type that an endpoint can subscribe to. */
export type EventType = keyof typeof descriptions

/** The types in the order of the reference. */
export const eventTypes = Object.keys(descriptions) as ReadonlyArray<EventType> as readonly [EventType, ...EventType[]]

/** Returns the description of a type. */
export const descriptionOf = (type: EventType): string => descriptions[type]

/** Returns the events of a kind of actor that lead to one of the types. */
export const eventsFor = (kind: ActorKind, types: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(kind === "stock" ? {} : reportedEvents[kind])
    .filter(([, row]) => row.some(({ type }) => types.includes(type)))
    .map(([event]) => event)
