/**
 * The waitlist: it collects interest before a sequence opens, and its members are notified, once, when it does. This
 * file declares it. Evolve contains what events change, Decide what commands lead to, Timed what time brings.
 *
 * Commands say when the sequence opens, because that depends on other mechanisms, and which members were notified.
 */
import { windowProblems } from "../experience/ExperienceWindow.ts"
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { denied, joined, left, reportedOfAll } from "../mechanism/ReportedEvents.ts"
import { Configuration } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Refusal, View } from "./Protocol.ts"
import { areNoticesDue, initial, type State, type Status } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"

export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export type { Channel, Command, Refusal, View } from "./Protocol.ts"
export { type Awaiting, awaitingNotice, type State } from "./State.ts"

export const declaration = {
  name: "Waitlist",
  noun: "waitlist",
  aNoun: "a waitlist",
  path: "waitlists",
  group: "waitlists",
  parameter: "waitlistId",
  singleField: "waitlist",
  invitation: "Join the waitlist",
  statuses: { ENTERED: "waiting", NOTIFIED: "waiting", LEFT: "gone", DENIED: "gone" },
  entries: ["Entered"],
  grants: [],
  reported: {
    ...reportedOfAll,
    Entered: joined,
    Left: left,
    Denied: denied,
    Notified: [{ type: "distribution.notified", fields: { channel: "channel" } }]
  },
  isEndableClosed: true,
  defaults: () => ({ supportsGuest: true }),
  problems: windowProblems
} as const satisfies KindDeclaration<Configuration, Event["_tag"], Status>

export const decider: Decider<Configuration, State, Command, Event, Refusal, View> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    needsEffect: areNoticesDue,
    rated: declaration,
    lines: ({ members }) => [members],
    nonRecordEvents: ["NoticeScheduled", "NoticeDue"]
  }
)
