/**
 * A place as lists show it: its status, and the fields that a status has of its own. Each kind's `View.ts` writes the
 * fields; a field that is not declared here is not shown.
 */
import { Schema } from "effect"
import { Price } from "../values/Amount.ts"
import type { KindData, Standing } from "./Declaration.ts"
import { recordedReasons } from "./Denial.ts"
import { byKind, declarations, type Kind, kinds } from "./Mechanism.ts"

/** A status of a place, in any kind of mechanism. */
export type PlaceStatus = { [K in Kind]: keyof (typeof declarations)[K]["statuses"] }[Kind]

/** The statuses of places, by kind of mechanism. */
export const statusesOf = byKind((kind) => Object.keys(declarations[kind].statuses) as ReadonlyArray<PlaceStatus>)

/** Returns the standing of places in a status; undefined if the kind has no such status. */
export const standingOf = (kind: Kind, status: string): Standing | undefined => {
  const { statuses }: KindData = declarations[kind]
  return statuses[status]
}

const statuses = [...new Set(kinds.flatMap((kind) => statusesOf[kind]))]

/** The statuses of places in all kinds of mechanism. */
export const PlaceStatus = Schema.Literals(statuses)

/** The statuses of places that have ended. */
export const endStatuses = statuses.filter((status) =>
  kinds.some((kind) => {
    const standing = standingOf(kind, status)
    return standing === "completed" || standing === "gone"
  })
)

/** The statuses by kind, as a sentence. */
export const statusesByKind = `By kind of mechanism: ${kinds
  .map((kind) => `${kind}: ${statusesOf[kind].map((name) => `\`${name}\``).join(", ")}`)
  .join("; ")}.`

const own = <S extends Schema.Constraint>(schema: S, description: string) =>
  Schema.optionalKey(schema).annotateKey({ description })
const instant = Schema.String.annotate({ format: "date-time" })

/** Why a place is DENIED, in all kinds of mechanism. */
const reasons = [
  "ADMISSION_EXPIRED",
  "QUEUE_CLOSED",
  "DRAW_CLOSED",
  "NOT_SELECTED",
  "AUCTION_CLOSED",
  "WAITLIST_CLOSED",
  ...recordedReasons
] as const

/** The fields that a status has of its own, as they go out. */
export const ownFields = {
  grantedAt: own(instant, "GRANTED."),
  wonAt: own(instant, "WON."),
  offeredAt: own(instant, "OFFERED."),
  expiresAt: own(
    instant,
    "When the grant of a place that is GRANTED, WON, OFFERED or ENTERED (timed release) expires, or has expired (EXPIRED); absent if it does not expire."
  ),
  completedAt: own(instant, "COMPLETED, except of an appointment."),
  reason: own(Schema.Literals(reasons), "DENIED: why."),
  deniedAt: own(instant, "DENIED."),
  leftAt: own(instant, "LEFT."),
  lostAt: own(instant, "LOST."),
  notifiedAt: own(instant, "NOTIFIED."),
  channel: own(
    Schema.Literals(["email", "phone"]),
    "NOTIFIED: how the member was told; absent if no message could be delivered."
  ),
  selectedVariantId: own(Schema.String, "Of a timed release: the variant that the consumer has chosen."),
  bidderHandle: own(Schema.String, "Of an auction: the name that other bidders see."),
  bidCount: own(Schema.Int, "Of an auction: the number of accepted bids."),
  lastBidAmount: own(Price, "Of an auction: absent before the first bid."),
  winningBidAmount: own(Price, "Of an auction: the price of the unit that was won."),
  bookingId: own(Schema.String, "Of an appointment."),
  startTime: own(instant, "Of an appointment: the beginning of the slot."),
  endTime: own(instant, "Of an appointment: the end of the slot."),
  confirmationCode: own(Schema.String, "Of an appointment.")
}
export type OwnFields = Schema.Struct<typeof ownFields>["Type"]

/** The status of a place and its own fields. */
export const placeFields = {
  status: PlaceStatus.annotate({ description: statusesByKind }),
  ...ownFields
}

/** How the list of places of a mechanism can be sorted. The first is the default. */
export const placeSorts = ["enteredAt", "consumerId"] as const

/** How the list of an appointment's bookings, and that of an auction's bids, can be sorted. */
export const bookingSorts = ["startTime"] as const
export const bidSorts = ["rank"] as const

/** How the list of places of a consumer can be sorted. The first is the default. */
export const consumerPlaceSorts = ["enteredAt"] as const
