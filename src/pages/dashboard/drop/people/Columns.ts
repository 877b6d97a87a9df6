/** The columns of the people of a mechanism, and their states in words. */
import { deniableKinds } from "../../../../domain/mechanism/Mechanism.ts"
import { standingOf } from "../../../../domain/mechanism/PlaceFields.ts"
import { html, type Inserted } from "../../../Html.ts"
import { nameOf } from "../../Names.ts"
import { badge, counted, type Tone } from "../../Parts.ts"
import { type Column, zonedInstant } from "../../Table.ts"
import type { Mechanism } from "../Drop.ts"
import { viewOf } from "../Kinds.ts"
import { money } from "../KindView.ts"
import { bookingColumn } from "./Bookings.ts"
import type { Person } from "./Person.ts"

/** The statuses in words. */
const statusNames: { readonly [status: string]: string } = {
  QUEUED: "waits",
  GRANTED: "was admitted",
  ENTERED: "entered",
  COMPLETED: "bought",
  DENIED: "denied",
  LEFT: "left",
  EXPIRED: "did not buy in time",
  WON: "won",
  LOST: "did not win",
  BIDDING: "has not bid",
  WINNING: "leads",
  OUTBID: "is outbid",
  BOOKED: "booked",
  CHECKED_IN: "is there",
  CANCELLED: "cancelled",
  NO_SHOW: "did not come",
  NOTIFIED: "was told"
}

/** The status of a place in words. */
export const statusName = (mechanism: Mechanism, status: string): string =>
  viewOf(mechanism).statuses?.[status] ?? statusNames[status] ?? status

const tones: { readonly [standing: string]: Tone } = {
  waiting: "next",
  admitted: "ok",
  present: "ok",
  completed: "ok",
  gone: "over"
}

const deniable: ReadonlySet<string> = new Set(deniableKinds)

/** True if staff may deny places of the kind. */
export const isDeniable = ({ type }: Mechanism): boolean => deniable.has(type)

/** The columns of the list of people. `path` is the address of the tab. */
export const columnsOf = (
  mechanism: Mechanism,
  maySteer: boolean,
  path: string,
  day: string
): ReadonlyArray<Column<Person>> => [
  {
    title: "Name",
    cell: (person) => html`<a href="/dashboard/consumers/${person.consumerId}">${nameOf(person)}</a>`
  },
  {
    title: "State",
    cell: ({ status }) =>
      badge(statusName(mechanism, status), tones[standingOf(mechanism.type, status) ?? "gone"] ?? "over")
  },
  { title: "Since", cell: ({ updatedAt }) => zonedInstant(updatedAt, mechanism.timeZone) },
  { title: mechanism.type === "appointment" ? "Slot" : "Details", cell: (person) => detailsOf(mechanism, person) },
  ...(maySteer && isDeniable(mechanism)
    ? [
        {
          title: "Choose",
          cell: (person: Person) =>
            person.status !== "DENIED" &&
            html`<input
              type="checkbox"
              form="deny"
              name="consumer"
              value="${person.consumerId}"
              aria-label="Choose ${nameOf(person)}"
            />`
        }
      ]
    : []),
  ...(maySteer && mechanism.type === "appointment" ? [bookingColumn(mechanism, path, day)] : [])
]

/** What a place of the kind has beside its state. */
const detailsOf = (mechanism: Mechanism, person: Person): Inserted => {
  if (mechanism.type === "auction") {
    const { winningBidAmount, lastBidAmount, bidCount = 0 } = person
    const amount = winningBidAmount ?? lastBidAmount
    return amount === undefined ? "–" : `${money(amount, mechanism.currencyCode)} · ${counted(bidCount, "bid", "bids")}`
  }
  if (person.startTime !== undefined)
    return html`${zonedInstant(Date.parse(person.startTime), mechanism.timeZone)} · ${person.confirmationCode}`
  if (person.reason !== undefined) return person.reason.toLowerCase().replaceAll("_", " ")
  return person.expiresAt === undefined
    ? "–"
    : html`until ${zonedInstant(Date.parse(person.expiresAt), mechanism.timeZone)}`
}
