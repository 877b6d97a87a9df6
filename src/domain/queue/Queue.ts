/**
 * The queue: a virtual waiting room. This file declares it. Evolve contains what events change, Decide what commands
 * lead to, Timed and Pacing what time brings.
 */
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import { unitTags } from "../mechanism/Allocation.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { admitted, joined, left, reportedOfAll, reportedOfGrants } from "../mechanism/ReportedEvents.ts"
import type { UnitsReport } from "../mechanism/UnitProtocol.ts"
import { unitRules } from "../mechanism/Units.ts"
import { Configuration, configurationProblems } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Facts, Refusal, View } from "./Protocol.ts"
import { admissionsLeft, initial, type State, type Status, unitsLeft, unitUse } from "./State.ts"
import { timed } from "./Timed.ts"
import { published } from "./View.ts"
import * as views from "./View.ts"

export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { AdminReason, type Command, DenialReason, type Facts, type Refusal, type View } from "./Protocol.ts"
export type { State } from "./State.ts"
export type { Line } from "./LineState.ts"

export const declaration = {
  name: "Queue",
  noun: "queue",
  aNoun: "a queue",
  path: "queues",
  group: "queues",
  parameter: "queueId",
  invitation: "Join the queue",
  statuses: { QUEUED: "waiting", GRANTED: "admitted", COMPLETED: "completed", DENIED: "gone", LEFT: "gone" },
  entries: ["Entered"],
  grants: ["Granted"],
  reported: {
    ...reportedOfAll,
    Opened: [{ type: "distribution.opened" }],
    Entered: joined,
    Granted: admitted,
    Left: left,
    Paused: [{ type: "distribution.paused", fields: { reason: "reason" } }],
    Resumed: [{ type: "distribution.resumed", fields: { reason: "reason" } }],
    ...reportedOfGrants
  },
  isDeniable: true,
  defaults: () => ({
    supportsGuest: true,
    recycleExpiredAdmissions: false,
    standby: false,
    loyaltyBiasEnabled: false,
    loyaltyHeadStartSeconds: 60,
    riskWeight: 0
  }),
  problems: configurationProblems
} as const satisfies KindDeclaration<Configuration, Event["_tag"], Status>

const { report } = unitRules(unitUse)

/** Returns what the queue says of its units. Only consumers of one that has no free unit are told whether more may come. */
const unitsReportOf = (state: State): UnitsReport | undefined => {
  const said = report(state)
  return said?.isOpen === true && unitsLeft(state) <= 0 ? { ...said, mayReturn: state.mayReturn } : said
}

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    publishedFacts: published,
    units: unitsReportOf,
    nonRecordEvents: [...unitTags, "SupplyNoted"],
    rated: declaration,
    unitsLeft: admissionsLeft,
    lines: ({ waiting }) => [waiting]
  }
)
