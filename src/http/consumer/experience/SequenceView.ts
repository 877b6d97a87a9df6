/**
 * The public view of a sequence's mechanisms. Each kind shows the fields of its own public read, as far as its stored
 * record has them.
 */
import { Schema, Struct } from "effect"
import { bounded, type Windowed } from "../../../domain/experience/ExperienceWindow.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { deciders } from "../../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import type { ShownMechanism, ShownSequence } from "../../../store/experience/ExperienceViews.ts"
import { lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import { PublicAppointment } from "../appointment/AppointmentApi.ts"
import { PublicAuction } from "../auction/AuctionApi.ts"
import { PublicDraw } from "../draw/DrawApi.ts"
import { type PublicFields, shown } from "../mechanism/PublicMechanism.ts"
import { PublicQueue } from "../queue/QueueApi.ts"
import { PublicTimedRelease } from "../timedRelease/TimedReleaseApi.ts"
import { PublicWaitlist } from "../waitlist/WaitlistApi.ts"

/** A draw without the facts that it publishes. Only its own read shows them. */
const SequenceDraw = PublicDraw.mapFields(
  Struct.omit(["seedCommitment", "entriesDigest", "beaconRound", "drawnAt"])
).annotate({ identifier: "SequenceDraw" })

const SequenceWaitlist = Schema.Struct({
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

type Mechanisms = { readonly [Field in keyof typeof PublicMechanisms]: (typeof PublicMechanisms)[Field]["Type"] }

/** The mechanisms of a sequence at `now`. */
export const publicMechanisms = (experienceId: string, { mechanisms }: ShownSequence, now: Millis): Mechanisms => {
  const of = <F extends Schema.Struct.Fields>(kind: string, schema: Schema.Struct<F>) =>
    mechanisms
      .filter((mechanism) => mechanism.kind === kind)
      .map((mechanism) => shown(schema, known(experienceId, mechanism, now)))
  return {
    queues: of("queue", PublicQueue),
    draws: of("draw", SequenceDraw),
    auctions: of("auction", PublicAuction),
    appointments: of("appointment", PublicAppointment),
    timedReleases: of("timed_release", PublicTimedRelease),
    waitlist: of("waitlist", SequenceWaitlist)[0] ?? null
  }
}

/** All known fields of a mechanism. */
const known = (experienceId: string, mechanism: ShownMechanism, now: Millis): PublicFields => {
  const { id, kind, sequenceId, configuration, status } = mechanism
  return {
    id,
    experienceId,
    sequenceId,
    ...decodeSettings[kind](configuration),
    ...status,
    lifecycle: lifecycleOf(mechanism, now)
  }
}

/** The settings with the times bounded by the experience. */
const decodeSettings = Object.fromEntries(
  Object.entries(deciders).map(([kind, { configuration }]) => {
    const decode: (stored: unknown) => Windowed = Schema.decodeUnknownSync(configuration)
    return [kind, (stored: unknown) => bounded(decode(stored))]
  })
) as { readonly [Kind in keyof typeof deciders]: (configuration: unknown) => PublicFields }
