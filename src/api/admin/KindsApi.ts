/** The kinds of mechanism on the Admin API: their groups of operations, and their schemas. */
import type { Schema } from "effect"
import { Settings } from "../../domain/experience/Experience.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { AppointmentApi, appointmentFacts, appointmentSchemas } from "./AppointmentApi.ts"
import { AuctionApi, auctionFacts, auctionSchemas } from "./AuctionApi.ts"
import { DrawApi, drawSchemas } from "./DrawApi.ts"
import { QueueApi, queueFacts, queueSchemas } from "./QueueApi.ts"
import { TimedReleaseApi, timedReleaseSchemas } from "./TimedReleaseApi.ts"
import { WaitlistApi, waitlistSchemas } from "./WaitlistApi.ts"

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

/** True for the schema of a setting that is an instant, and may be absent. */
const isInstant = (field: Schema.Constraint): boolean =>
  field === Timestamp || ("schema" in field && field.schema === Timestamp)

/** Every setting that is an instant, of an experience and of mechanisms of all kinds. */
export const instantSettings: ReadonlySet<string> = new Set(
  [Settings.fields, ...Object.values(kindSchemas).map(({ settings }) => settings)].flatMap((settings) =>
    Object.entries(settings).flatMap(([name, field]) => (isInstant(field) ? [name] : []))
  )
)

/** The facts of each kind that only staff may know. */
export const staffFacts = {
  queue: queueFacts,
  draw: {},
  auction: auctionFacts,
  appointment: appointmentFacts,
  timed_release: {},
  waitlist: {}
} as const satisfies { readonly [K in Kind]: object }
