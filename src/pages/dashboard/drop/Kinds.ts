/** The kinds of mechanism in the tabs of a drop. */
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import type { Mechanism } from "./Drop.ts"
import type { KindView } from "./KindView.ts"
import { view as appointment } from "./kinds/Appointment.ts"
import { view as auction } from "./kinds/Auction.ts"
import { view as draw } from "./kinds/Draw.ts"
import { view as queue } from "./kinds/Queue.ts"
import { view as timedRelease } from "./kinds/TimedRelease.ts"
import { view as waitlist } from "./kinds/Waitlist.ts"

const views: { readonly [K in Kind]: KindView<K> } = {
  queue,
  draw,
  auction,
  appointment,
  timed_release: timedRelease,
  waitlist
}

/** What is shown of the kind of a mechanism. */
export const viewOf = ({ type }: Pick<Mechanism, "type">): KindView<Kind> =>
  // A mechanism and its facts are of the kind that its view takes.
  views[type] as unknown as KindView<Kind>
