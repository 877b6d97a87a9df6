/**
 * The appointment: a consumer books one of many slots. This file declares it. Timetable defines the slots, Evolve what
 * events change, Decide what commands lead to, Timed what time brings.
 */
import { Configuration } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Facts, Refusal, View } from "./Protocol.ts"
import { initial, type State } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"
import { deciderOf } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"

export { Configuration, configurationProblems } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { defaultHours, Hours } from "./Hours.ts"
export { slotId, slotStart } from "./Names.ts"
export { type Command, type Facts, type Refusal, statuses, type View } from "./Protocol.ts"
export type { State } from "./State.ts"
export { offeredSlots } from "./View.ts"

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    rated: { entries: ["Booked"], grants: [] }
  }
)
