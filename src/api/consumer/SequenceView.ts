/**
 * The public view of a sequence's mechanisms. Each kind shows the fields of its own public read, as far as its stored
 * record has them.
 */
import { Schema, Struct } from "effect"
import { Id } from "../../domain/values/Ids.ts"
import { PublicAppointment } from "./AppointmentApi.ts"
import { PublicAuction } from "./AuctionApi.ts"
import { PublicDraw } from "./DrawApi.ts"
import { PublicQueue } from "./QueueApi.ts"
import { PublicTimedRelease } from "./TimedReleaseApi.ts"
import { PublicWaitlist } from "./WaitlistApi.ts"

/** A draw without the facts that it publishes. Only its own read shows them. */
export const SequenceDraw = PublicDraw.mapFields(
  Struct.omit(["seedCommitment", "entriesDigest", "beaconRound", "drawnAt"])
).annotate({ identifier: "SequenceDraw" })

export const SequenceWaitlist = Schema.Struct({
  id: Id,
  capacity: Schema.NullOr(Schema.Int),
  supportsGuest: Schema.Boolean,
  lifecycle: PublicWaitlist.fields.lifecycle
})

/** The fields of a sequence that hold its mechanisms, each in the order of creation. */
export const PublicMechanisms = {
  queues: Schema.Array(PublicQueue),
  draws: Schema.Array(SequenceDraw),
  auctions: Schema.Array(PublicAuction),
  appointments: Schema.Array(PublicAppointment),
  timedReleases: Schema.Array(PublicTimedRelease),
  waitlist: Schema.NullOr(SequenceWaitlist).annotate({
    description: "Its waitlist; null if it has none."
  })
}
