/**
 * The waitlist: it collects interest before a sequence opens, and its members are notified, once, when it does. This
 * file declares it. Evolve contains what events change, Decide what commands lead to, Timed what time brings.
 *
 * Commands say when the sequence opens, because that depends on other mechanisms, and which members were notified.
 */
import { deciderOf } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { Configuration } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Refusal, View } from "./Protocol.ts"
import { areNoticesDue, initial, type State } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"

export { windowProblems as configurationProblems } from "../experience/ExperienceWindow.ts"
export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export type { Channel, Command, Refusal, View } from "./Protocol.ts"
export { type Awaiting, awaitingNotice, type State } from "./State.ts"

export const decider: Decider<Configuration, State, Command, Event, Refusal, View> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    needsEffect: areNoticesDue,
    rated: { entries: ["Entered"], grants: [] },
    lines: ({ members }) => [members],
    nonRecordEvents: ["NoticeScheduled", "NoticeDue"]
  }
)
