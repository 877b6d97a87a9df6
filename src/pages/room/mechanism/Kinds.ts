/** The kinds of mechanism in rooms, in the order in which a room shows those of a sequence. */
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import { appointment } from "./Appointment.ts"
import { auction } from "./Auction.ts"
import { draw } from "./Draw.ts"
import type { LiveFacts, MechanismWithFacts } from "./Parts.ts"
import { queue } from "./Queue.ts"
import type { RoomKind } from "./RoomKind.ts"
import { timedRelease } from "./TimedRelease.ts"
import { waitlist } from "./Waitlist.ts"

const roomKinds = {
  queue,
  draw,
  auction,
  timed_release: timedRelease,
  appointment,
  waitlist
} as const satisfies { readonly [K in Kind]: unknown }

type RoomKinds = typeof roomKinds

export const shownKinds = Object.keys(roomKinds) as ReadonlyArray<Kind>

/** Returns what a kind declares. The mechanisms and states given to it must be of the kind. */
export const roomKindOf = (kind: Kind): RoomKind<MechanismWithFacts, unknown> => roomKinds[kind]

/** A mechanism with its public facts. */
export type Mechanism = {
  [K in Kind]: (RoomKinds[K] extends RoomKind<infer M, infer _State> ? M : never) & {
    readonly live?: LiveFacts | undefined
  }
}[Kind]

/** The visitor's standing in a mechanism, by its kind. */
export type States = { readonly [K in Kind]: RoomKinds[K] extends RoomKind<infer _M, infer State> ? State : never }
