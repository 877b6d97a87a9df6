/** The declarations of all kinds of mechanism, for operations over all kinds. */
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { appointments } from "../appointment/Appointments.ts"
import { auctions } from "../auction/Auctions.ts"
import { draws } from "../draw/Draws.ts"
import type { KindOfMechanism } from "./KindOfMechanism.ts"
import { queues } from "../queue/Queues.ts"
import { timedReleases } from "../timedRelease/TimedReleases.ts"
import { waitlists } from "../waitlist/Waitlists.ts"

export const kinds: { readonly [K in Kind]: KindOfMechanism<K> } = {
  queue: queues,
  draw: draws,
  auction: auctions,
  appointment: appointments,
  timed_release: timedReleases,
  waitlist: waitlists
}
