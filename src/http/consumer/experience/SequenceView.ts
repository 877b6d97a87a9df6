/** Shows the mechanisms of a sequence from their stored records (`api/consumer/SequenceView.ts`). */
import { Schema } from "effect"
import { type PublicMechanisms, SequenceDraw, SequenceWaitlist } from "../../../api/consumer/SequenceView.ts"
import { bounded, type Windowed } from "../../../domain/experience/ExperienceWindow.ts"
import { deciders } from "../../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import type { ShownMechanism, ShownSequence } from "../../../store/experience/ExperienceViews.ts"
import { lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import { PublicAppointment } from "../../../api/consumer/AppointmentApi.ts"
import { PublicAuction } from "../../../api/consumer/AuctionApi.ts"
import { type PublicFields, shown } from "../mechanism/PublicMechanism.ts"
import { PublicQueue } from "../../../api/consumer/QueueApi.ts"
import { PublicTimedRelease } from "../../../api/consumer/TimedReleaseApi.ts"

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
