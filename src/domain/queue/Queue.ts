/**
 * The queue: a virtual waiting room. This file declares it. Evolve contains what events change, Decide what commands
 * lead to, Timed and Pacing what time brings.
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
import { published } from "./View.ts"
import * as views from "./View.ts"

export { Configuration, configurationProblems } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { AdminReason, type Command, DenialReason, type Facts, type Refusal, type View } from "./Protocol.ts"
export type { State } from "./State.ts"
export type { Line } from "./Tickets.ts"

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    publishedFacts: published,
    rated: { entries: ["Entered"], grants: ["Granted"] },
    lines: ({ waiting }) => [waiting]
  }
)
