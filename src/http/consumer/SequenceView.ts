/**
 * The mechanisms of a sequence, as anyone may see them (interface document 2.8). What is shown of each kind is what its
 * own public read shows, as far as the record tells that is stored beside its journal.
 */
import { Schema, Struct } from "effect"
import { Id } from "../../domain/Ids.ts"
import { deciders, isLiveKind } from "../../domain/Mechanism.ts"
import type { Millis } from "../../domain/Time.ts"
import type { ShownMechanism, ShownSequence } from "../../store/ExperienceViews.ts"
import { lifecycleOf } from "../../store/Mechanisms.ts"
import { PublicAppointment } from "./AppointmentApi.ts"
import { PublicAuction } from "./AuctionApi.ts"
import { PublicDraw } from "./DrawApi.ts"
import { PublicQueue } from "./QueueApi.ts"
import { PublicTimedRelease } from "./TimedReleaseApi.ts"

/** A draw without what only its own read tells: what it has published. */
const SequenceDraw = PublicDraw.mapFields(
  Struct.omit(["seedCommitment", "entriesDigest", "beaconRound", "drawnAt"])
).annotate({ identifier: "SequenceDraw" })

/** The kinds by their field in a sequence, with what is shown of each. Whatever is not named there is not shown. */
const shownKinds = {
  queues: { kind: "queue", shown: PublicQueue },
  draws: { kind: "draw", shown: SequenceDraw },
  auctions: { kind: "auction", shown: PublicAuction },
  appointments: { kind: "appointment", shown: PublicAppointment },
  timedReleases: { kind: "timed_release", shown: PublicTimedRelease }
} as const

/** The fields of a sequence that hold its mechanisms, each in the order of creation. */
export const PublicMechanisms = {
  queues: Schema.Array(PublicQueue),
  draws: Schema.Array(SequenceDraw),
  auctions: Schema.Array(PublicAuction),
  appointments: Schema.Array(PublicAppointment),
  timedReleases: Schema.Array(PublicTimedRelease),
  waitlist: Schema.NullOr(Schema.Struct({ id: Id, capacity: Schema.NullOr(Schema.Int) })).annotate({
    description: "The first of its waitlists."
  })
}

type Mechanisms = { readonly [Field in keyof typeof PublicMechanisms]: (typeof PublicMechanisms)[Field]["Type"] }

/** The mechanisms of a sequence as they stand at `now`. */
export const publicMechanisms = (experienceId: string, { mechanisms }: ShownSequence, now: Millis): Mechanisms => {
  const of = (kind: string, names: ReadonlyArray<string>) =>
    mechanisms
      .filter((mechanism) => mechanism.kind === kind)
      .map((mechanism) => only(names, known(experienceId, mechanism, now)))
  const lists = Object.entries(shownKinds).map(([field, { kind, shown }]) => [
    field,
    of(kind, Object.keys(shown.fields))
  ])
  return { ...Object.fromEntries(lists), waitlist: of("waitlist", ["id", "capacity"])[0] ?? null }
}

type Values = { readonly [name: string]: unknown }

/** All that is known of a mechanism. */
const known = (experienceId: string, mechanism: ShownMechanism, now: Millis): Values => {
  const { id, kind, sequenceId, configuration, status } = mechanism
  return {
    id,
    experienceId,
    sequenceId,
    ...(isLiveKind(kind) && decodeSettings[kind](configuration)),
    ...status,
    lifecycle: lifecycleOf(mechanism, now)
  }
}

/** The named values; null where there is none. */
const only = (names: ReadonlyArray<string>, values: Values): Values =>
  Object.fromEntries(names.map((name) => [name, values[name] ?? null]))

const decodeSettings = Object.fromEntries(
  Object.entries(deciders).map(([kind, { configuration }]) => [
    kind,
    Schema.decodeUnknownSync(configuration as Schema.Codec<unknown, unknown>)
  ])
) as { readonly [Kind in keyof typeof deciders]: (configuration: unknown) => Values }
