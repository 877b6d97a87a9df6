/**
 * The timed release: every consumer who enters inside its window, while its units last, is granted at once. This file
 * declares it. Evolve contains what events change, Decide what commands lead to, Timed what time brings.
 */
import { deciderOf } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { Configuration } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Facts, Refusal, View } from "./Protocol.ts"
import { initial, type State } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"

export { windowProblems as configurationProblems } from "../experience/ExperienceWindow.ts"
export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export type { Command, Facts, Refusal, View } from "./Protocol.ts"
export type { State } from "./State.ts"

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    rated: { entries: ["Entered"], grants: ["Entered"] }
  }
)
