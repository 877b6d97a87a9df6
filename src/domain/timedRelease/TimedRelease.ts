/**
 * The timed release: every consumer who enters inside its window, while its units last, is granted at once. This file
 * declares it. Evolve contains what events change, Decide what commands lead to, Timed what time brings.
 */
import { windowProblems } from "../experience/ExperienceWindow.ts"
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import { unitTags } from "../mechanism/Allocation.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { left, reportedOfAll, reportedOfGrants } from "../mechanism/ReportedEvents.ts"
import { unitRules } from "../mechanism/Units.ts"
import { Configuration } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Facts, Refusal, View } from "./Protocol.ts"
import { initial, type State, type Status, unitsLeft, unitUse } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"

export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export type { Command, Facts, Refusal, View } from "./Protocol.ts"
export type { State } from "./State.ts"

export const declaration = {
  name: "TimedRelease",
  noun: "timed release",
  aNoun: "a timed release",
  path: "timed-releases",
  group: "timedReleases",
  parameter: "timedReleaseId",
  invitation: "Shop now",
  statuses: { ENTERED: "admitted", COMPLETED: "completed", DENIED: "gone", LEFT: "gone", EXPIRED: "gone" },
  entries: ["Entered"],
  grants: ["Entered"],
  reported: {
    ...reportedOfAll,
    Entered: [{ type: "distribution.joined" }, { type: "distribution.admitted", fields: { variantId: "variant_id" } }],
    Left: left,
    ...reportedOfGrants
  },
  isDeniable: true,
  selectsVariant: true,
  defaults: () => ({ supportsGuest: true }),
  problems: windowProblems,
  variants: ({ variantIds = [] }) => variantIds
} as const satisfies KindDeclaration<Configuration, Event["_tag"], Status>

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    rated: declaration,
    unitsLeft,
    units: unitRules(unitUse).report,
    nonRecordEvents: unitTags
  }
)
