/**
 * The draw: a raffle that every reader of its proof can check. This file declares it. Evolve contains what events
 * change, Decide what commands lead to, Timed what time brings. The head of Algorithm explains how the winners follow
 * from the seed. Entries and Selection compute them in slices, Proof presents them, and Verification checks them from
 * the proof alone.
 *
 * The events of a draw: Entered and Left until `closeAt`; Closed; EntriesFixed, when the digest of the list is computed;
 * from `drawAt` on, with the beacon's round if it waits for one, a Won for each winner, and Drawn. The consumers who are
 * not drawn are DENIED from that moment on, and their denials are recorded one by one.
 *
 * With `continueSelectingUntilCompleted`, the next consumer in the drawn order wins in place of each win that expired or
 * was denied. Then the draw is over, and the rest are DENIED, when as many have completed as were to win, or an admin
 * ends it. A drawing that has begun is finished, also if an admin ends the draw meanwhile.
 */
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import { unitTags } from "../mechanism/Allocation.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { joined, left, reportedOfAll, reportedOfGrants, won } from "../mechanism/ReportedEvents.ts"
import { unitRules } from "../mechanism/Units.ts"
import { Configuration, configurationProblems } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Refusal, View } from "./Protocol.ts"
import { awaitsBeacon, initial, type State, type Status, unitUse } from "./State.ts"
import { timed } from "./Timed.ts"
import { type Facts, published } from "./View.ts"
import * as views from "./View.ts"

export { timeOfRound } from "./proof/Beacon.ts"
export { simulatedRound } from "./proof/SimulatedRound.ts"
export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { Proof } from "./proof/Proof.ts"
export { type Command, DenialReason, type Refusal, type View } from "./Protocol.ts"
export { awaitsBeacon, type State } from "./State.ts"
export type { Facts } from "./View.ts"

export const declaration = {
  name: "Draw",
  noun: "draw",
  aNoun: "a draw",
  path: "draws",
  group: "draws",
  parameter: "drawId",
  invitation: "Enter the draw",
  statuses: { ENTERED: "waiting", WON: "admitted", COMPLETED: "completed", DENIED: "gone", LEFT: "gone" },
  entries: ["Entered"],
  grants: ["Won"],
  reported: {
    ...reportedOfAll,
    Entered: joined,
    Left: left,
    Won: won,
    Drawn: [{ type: "distribution.drawn" }],
    ...reportedOfGrants
  },
  isDeniable: true,
  isEndableClosed: true,
  defaults: ({ drawAt }) => ({
    supportsGuest: true,
    continueSelectingUntilCompleted: false,
    loyaltyBiasEnabled: false,
    loyaltyWeight: 1,
    riskWeight: 0,
    ...(drawAt !== undefined && { closeAt: drawAt })
  }),
  problems: configurationProblems,
  secrets: ({ drawnAt }) => (drawnAt === undefined ? ["seed", "salt"] : ["salt"])
} as const satisfies KindDeclaration<Configuration, Event["_tag"], Status>

export const decider: Decider<Configuration, State, Command, Event, Refusal, View, Facts> = deciderOf(
  { initial, apply, rules, timed, views },
  {
    schemas: { configuration: Configuration, event: Event },
    needsEffect: (state) => awaitsBeacon(state) !== undefined,
    publishedFacts: published,
    units: unitRules(unitUse).report,
    nonRecordEvents: unitTags,
    rated: declaration,
    unitsLeft: ({ configuration, counts }) => configuration.winnerCount - counts.WON - counts.COMPLETED,
    // The last completion ends the draw for every consumer who is still ENTERED.
    farReaching: ["Completed"]
  }
)
