/**
 * The appointment: a consumer books one of many slots. This file declares it. Timetable defines the slots, Evolve what
 * events change, Decide what commands lead to, Timed what time brings.
 */
import { Configuration, configurationProblems } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import { defaultHours } from "./Hours.ts"
import type { Command, Facts, Refusal, Status, View } from "./Protocol.ts"
import { initial, type State } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { reportedOfAll, reportedOfGrants } from "../mechanism/ReportedEvents.ts"

export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { Hours } from "./Hours.ts"
export { slotId, slotStart } from "./Names.ts"
export { type Command, type Facts, type Refusal, statuses, type View } from "./Protocol.ts"
export type { State } from "./State.ts"
export { offeredSlots } from "./View.ts"

/** The fields of a booking that webhooks report. */
const slot = { bookingId: "booking_id", startTime: "start_time", endTime: "end_time" }

export const declaration = {
  name: "Appointment",
  noun: "appointment",
  aNoun: "an appointment",
  path: "appointments",
  group: "appointments",
  parameter: "appointmentId",
  invitation: "Book an appointment",
  statuses: {
    BOOKED: "admitted",
    CHECKED_IN: "present",
    COMPLETED: "completed",
    CANCELLED: "gone",
    NO_SHOW: "gone"
  },
  entries: ["Booked"],
  grants: [],
  reported: {
    ...reportedOfAll,
    Booked: [{ type: "distribution.joined", fields: slot }],
    Rescheduled: [{ type: "distribution.rescheduled", fields: slot }],
    CheckedIn: [{ type: "distribution.checked_in" }],
    Completed: reportedOfGrants.Completed,
    Cancelled: [{ type: "distribution.cancelled" }],
    Missed: [{ type: "distribution.no_show" }]
  },
  defaults: () => ({ supportsGuest: true, bufferMinutes: 0, maxCapacityPerSlot: 1, hours: defaultHours }),
  problems: configurationProblems
} as const satisfies KindDeclaration<Configuration, Event["_tag"], Status>

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  { schemas: { configuration: Configuration, event: Event }, rated: declaration }
)
