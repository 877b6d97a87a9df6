/**
 * The waitlist: it collects interest before a sequence opens, and its members are notified, once, when it does. With
 * `offers` it sells from a stock instead: a member gets a grant for a unit that came, in the order of the entries. This
 * file declares it. Evolve contains what events change, Decide what commands lead to, Timed what time brings.
 *
 * Commands say when the sequence opens, because that depends on other mechanisms, and which members were notified.
 */
import { unitTags } from "../mechanism/Allocation.ts"
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { admitted, joined, left, reportedOfAll, reportedOfGrants } from "../mechanism/ReportedEvents.ts"
import { unitRules } from "../mechanism/Units.ts"
import { Configuration, configurationProblems, offerSeconds } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Refusal, View } from "./Protocol.ts"
import { areNoticesDue, initial, type State, type Status, unitUse } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"

export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { type Channel, type Command, type Refusal, type View } from "./Protocol.ts"
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
  statuses: {
    ENTERED: "waiting",
    NOTIFIED: "waiting",
    OFFERED: "admitted",
    COMPLETED: "completed",
    EXPIRED: "gone",
    LEFT: "gone",
    DENIED: "gone"
  },
  entries: ["Entered"],
  grants: ["Offered"],
  reported: {
    ...reportedOfAll,
    Entered: joined,
    Left: left,
    Offered: admitted,
    ...reportedOfGrants,
    Notified: [{ type: "distribution.notified", fields: { channel: "channel" } }]
  },
  isDeniable: true,
  isEndableClosed: true,
  defaults: ({ offers }) => ({
    supportsGuest: true,
    offers: false,
    ...(offers === true && { admissionExpirationSeconds: offerSeconds })
  }),
  problems: configurationProblems
} as const satisfies KindDeclaration<Configuration, Event["_tag"], Status>

export const decider: Decider<Configuration, State, Command, Event, Refusal, View> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    needsEffect: areNoticesDue,
    rated: declaration,
    lines: ({ members }) => [members],
    units: unitRules(unitUse).report,
    nonRecordEvents: ["NoticeScheduled", "NoticeDue", ...unitTags]
  }
)
