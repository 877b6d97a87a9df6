/** The kinds of mechanism on the Admin API: their groups of operations, and their schemas. */
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import { AppointmentApi, appointmentSchemas } from "../appointment/AppointmentApi.ts"
import { AuctionApi, auctionSchemas } from "../auction/AuctionApi.ts"
import { DrawApi, drawSchemas } from "../draw/DrawApi.ts"
import { QueueApi, queueSchemas } from "../queue/QueueApi.ts"
import { TimedReleaseApi, timedReleaseSchemas } from "../timedRelease/TimedReleaseApi.ts"
import { WaitlistApi, waitlistSchemas } from "../waitlist/WaitlistApi.ts"

/** The groups, in the order of the description. */
export const kindGroups = [QueueApi, DrawApi, AuctionApi, AppointmentApi, TimedReleaseApi, WaitlistApi] as const

/** The schemas of each kind. */
export const kindSchemas = {
  queue: queueSchemas,
  draw: drawSchemas,
  auction: auctionSchemas,
  appointment: appointmentSchemas,
  timed_release: timedReleaseSchemas,
  waitlist: waitlistSchemas
} as const satisfies { readonly [K in Kind]: unknown }
