/** The kinds of mechanism on the Consumer API: their groups of operations, and what experiences show of them. */
import { Schema } from "effect"
import {
  declarations,
  type FieldOf,
  fieldOf,
  isSingle,
  type Kind,
  kinds,
  type SingleKind
} from "../../domain/mechanism/Mechanism.ts"
import { AppointmentsGroup, PublicAppointment } from "./AppointmentApi.ts"
import { AuctionsGroup, liveAuction, PublicAuction } from "./AuctionApi.ts"
import { DrawsGroup, ListedDraw, liveDraw } from "./DrawApi.ts"
import { liveQueue, PublicQueue, QueuesGroup } from "./QueueApi.ts"
import { liveTimedRelease, PublicTimedRelease, TimedReleasesGroup } from "./TimedReleaseApi.ts"
import { ListedWaitlist, liveWaitlist, WaitlistsGroup } from "./WaitlistApi.ts"

/** The groups, in the order of the description. */
export const kindGroups = [
  QueuesGroup,
  DrawsGroup,
  AuctionsGroup,
  AppointmentsGroup,
  TimedReleasesGroup,
  WaitlistsGroup
] as const

/** A mechanism as its sequence lists it, and the facts of its own that the live page shows. */
export const kindSchemas = {
  queue: { Listed: PublicQueue, live: liveQueue },
  draw: { Listed: ListedDraw, live: liveDraw },
  auction: { Listed: PublicAuction, live: liveAuction },
  appointment: { Listed: PublicAppointment, live: {} },
  timed_release: { Listed: PublicTimedRelease, live: liveTimedRelease },
  waitlist: { Listed: ListedWaitlist, live: liveWaitlist }
} as const satisfies {
  readonly [K in Kind]: { readonly Listed: Schema.Constraint; readonly live: Schema.Struct.Fields }
}

type Listed<K extends Kind> = K extends SingleKind
  ? Schema.NullOr<(typeof kindSchemas)[K]["Listed"]>
  : Schema.$Array<(typeof kindSchemas)[K]["Listed"]>

/** The fields of a sequence that hold its mechanisms, each in the order of creation. */
export const PublicMechanisms = Object.fromEntries(
  kinds.map((kind) => {
    const { Listed } = kindSchemas[kind]
    const description = `Its ${declarations[kind].noun}; null if it has none.`
    return [fieldOf[kind], isSingle(kind) ? Schema.NullOr(Listed).annotate({ description }) : Schema.Array(Listed)]
  })
) as object as { readonly [K in Kind as FieldOf<K>]: Listed<K> }
