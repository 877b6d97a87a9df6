/**
 * The auction. In an english auction the highest bids win, and each bidder pays its bid. In a dutch one the price falls
 * until a bidder takes it. This file declares the kind. Evolve contains what events change, Decide and Bidding what
 * commands lead to, Prices the prices, Timed what time brings.
 *
 * What the rules decide, where auctions differ:
 * - A consumer who enters is BIDDING until its first bid, and a bid enters by itself. A place takes one unit.
 * - A bid at the instant of `closeAt` is too late.
 * - A leader that raises its bid needs the same increment as the others.
 * - An amount far above the least bid needs a confirmation (`BidUnlikely`), unless the auction limits bids itself.
 * - Denying a leader lets the next best bid lead. A unit that was won goes to no other bidder.
 * - Ending an auction before its time calls it off. Consumers who wait for the outcome are denied with
 *   `AUCTION_CLOSED`.
 * - A dutch auction is settled when it is sold out. Without `openAt` its price falls from its creation on, or from the
 *   opening of its experience if that is later.
 * - Late bids also move the closing beyond the experience's closing.
 * - Once it has opened, only the name, the time zone and the lifetime of grants can change.
 */
import { Configuration, configurationProblems, fractionProblems } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Facts, Refusal, View } from "./Protocol.ts"
import { initial, type State, type Status, unitsLeft, unitUse } from "./State.ts"
import { timed } from "./Timed.ts"
import * as views from "./View.ts"
import { deciderOf, type KindDeclaration } from "../mechanism/Declaration.ts"
import { unitTags } from "../mechanism/Allocation.ts"
import type { Decider } from "../mechanism/Decider.ts"
import { joined, reportedOfAll, reportedOfGrants, won } from "../mechanism/ReportedEvents.ts"
import { unitRules } from "../mechanism/Units.ts"
import { smallestOf, toText } from "../values/Amount.ts"
import { fractionDigitsOf } from "../values/Locale.ts"

export { AuctionType, Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export { type Bid, bidsShownMax, type Command, DenialReason, type Facts, type Refusal, type View } from "./Protocol.ts"
export type { State } from "./State.ts"

export const declaration = {
  name: "Auction",
  noun: "auction",
  aNoun: "an auction",
  path: "auctions",
  group: "auctions",
  parameter: "auctionId",
  invitation: "Place a bid",
  statuses: {
    BIDDING: "waiting",
    WINNING: "waiting",
    OUTBID: "waiting",
    WON: "admitted",
    LOST: "gone",
    COMPLETED: "completed",
    DENIED: "gone"
  },
  entries: ["Entered"],
  grants: ["Won"],
  reported: {
    ...reportedOfAll,
    Entered: joined,
    BidPlaced: [{ type: "distribution.bid_placed", fields: { amount: "amount" } }],
    Outbid: [{ type: "distribution.outbid" }],
    Extended: [{ type: "distribution.updated", fields: { closeAt: "close_at" } }],
    Won: won,
    ...reportedOfGrants
  },
  isDeniable: true,
  defaults: ({ settleAt, auctionType = "english", currencyCode }, around) => ({
    auctionType,
    supportsGuest: true,
    currencyCode: around.currencyCode,
    quantity: 1,
    autoExtendSeconds: 0,
    ...(settleAt !== undefined && { closeAt: settleAt }),
    ...(auctionType === "english" && {
      minBidIncrement: toText(smallestOf(fractionDigitsOf(currencyCode ?? around.currencyCode)))
    })
  }),
  problems: (configuration, before) => [
    ...configurationProblems(configuration),
    ...fractionProblems(configuration, before)
  ]
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
