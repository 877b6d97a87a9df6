/** Auctions on the Admin API. */
import { OpenApi } from "effect/http-api"
import { Configuration, declaration } from "../../domain/auction/Auction.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"

export const auctionSchemas = schemasOf(declaration, Configuration.fields, ["settleAt", "startPrice"])

export class AuctionApi extends mechanismGroup(
  declaration,
  {
    creating:
      "Amounts are decimal text and are returned as they were written. They are in whole minor units of the currency by " +
      "ISO 4217: two digits after the point for `EUR`, none for `JPY`, three for `KWD` (else a 400). `auctionType` defaults to `english`. Settings " +
      "of the other type are refused.\n\n`english`: the `quantity` (default 1) highest bids win, and each winner pays " +
      "its bid. A bid below `reservePrice` wins nothing; consumers never see `reservePrice`. `minBidIncrement` " +
      "defaults to the smallest unit of the currency. A bid within `autoExtendSeconds` (default 0) of `closeAt` moves " +
      "`closeAt` to the bid's time plus `autoExtendSeconds`, even beyond the `closeAt` of the experience. `settleAt` " +
      "moves with it if it would be earlier. `maxBid` is the highest bid that is accepted. `maxBidJump` is the most by " +
      "which a bid may exceed the minimum. Without these two, a mistyped bid can win: only a bid that no other could " +
      "follow is refused.\n\n`dutch` needs `floorPrice`, `priceDropAmount` and `priceDropIntervalSeconds`. The price " +
      "falls from `startPrice` from the opening on. The opening is `openAt`, or the creation without `openAt`, or the " +
      "experience's opening if that is later. A bid takes one unit at once.\n\nWithout `openAt` the auction is open at " +
      "once. `closeAt` defaults to `settleAt`; `currencyCode` and `timeZone` default to the experience's. Without " +
      "`admissionExpirationSeconds` grants do not expire. `supportsGuest` defaults to true; false is recommended, " +
      "because a guest has no account and a winning bid binds no known person.",
    changing:
      "After the opening only `name`, `timeZone`, `supportsGuest` and `admissionExpirationSeconds` can be changed (409 " +
      "`CONFIGURATION_FIXED`).",
    ending:
      "before the closing this calls the auction off. No bidder wins, and bidders that wait for the outcome are denied " +
      "with `AUCTION_CLOSED`. Units that a dutch auction has sold stay sold."
  },
  auctionSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Auctions",
    description: "English auctions, won by the highest bidders, and Dutch auctions, whose price falls."
  })
) {}
