/** What is special about each kind of mechanism, for operations over all kinds. */
import type { LiveKind } from "../../domain/Mechanism.ts"
import { appointments } from "./Appointments.ts"
import { auctions } from "./Auctions.ts"
import { draws } from "./Draws.ts"
import type { KindOfMechanism } from "./KindOfMechanism.ts"
import { queues } from "./Queues.ts"
import { timedReleases } from "./TimedReleases.ts"
import { waitlists } from "./Waitlists.ts"

export const kinds: { readonly [K in LiveKind]: KindOfMechanism<K> } = {
  queue: queues,
  draw: draws,
  auction: auctions,
  appointment: appointments,
  timed_release: timedReleases,
  waitlist: waitlists
}
