/** Auctions on the Admin API: the declaration (interface document 2.8; completions 4, "auction"). */
import { OpenApi } from "effect/http-api"
import { Configuration } from "../../../domain/auction/Auction.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"

export const auctionSchemas = schemasOf("Auction", Configuration.fields, ["settleAt", "startPrice"])

export class AuctionApi extends mechanismGroup(
  {
    group: "auctions",
    noun: "auction",
    aNoun: "an auction",
    name: "Auction",
    creating:
      "Amounts are decimal text, and are shown as they were written. `auctionType` defaults to `english`: the `quantity` (1) highest bids win and each pays what it bid; who leads below `reservePrice`, which consumers never see, wins nothing. `minBidIncrement` defaults to the smallest unit of the currency. A bid within `autoExtendSeconds` (0) of `closeAt` moves `closeAt` to its own time plus `autoExtendSeconds`, and `settleAt` with it if that was before, also beyond the `closeAt` of its experience. " +
      "`dutch` needs `floorPrice`, `priceDropAmount` and `priceDropIntervalSeconds`: the price falls from `startPrice` since it opened: at `openAt`, or with its creation if there is none, or with its experience if that was later; a bid takes one unit at once. " +
      "`maxBid` is the highest bid an English auction takes, `maxBidJump` the most by which one may exceed the minimum. Without them a slip of the finger can win: only a bid that no other could follow is refused. " +
      "`supportsGuest` defaults to true; false is recommended, because a guest is anybody who comes without an account, and a winning bid binds nobody. " +
      "Settings of the other type are refused. Without `openAt` it is open at once; `closeAt` defaults to `settleAt`, `currencyCode` and `timeZone` to the experience's; without `admissionExpirationSeconds` grants do not expire.",
    changing:
      "Once it has opened, only `name`, `timeZone`, `supportsGuest` and `admissionExpirationSeconds` can be changed (409 `CONFIGURATION_FIXED`).",
    ending:
      "before it has closed by itself this calls it off: nobody wins, and who waits for the outcome is denied with `AUCTION_CLOSED`. Units that a dutch auction has sold stay sold."
  },
  auctionSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Auctions",
    description: "English auctions, won by the highest bidders, and Dutch ones, whose price falls."
  })
) {}
