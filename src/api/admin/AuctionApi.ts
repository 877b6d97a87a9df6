/** Auctions on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { bidsShownMax, Configuration, declaration } from "../../domain/auction/Auction.ts"
import { bidSorts } from "../../domain/mechanism/PlaceFields.ts"
import { Price } from "../../domain/values/Amount.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound, NotOpenYetWithHeaders } from "../Errors.ts"
import { whyBody } from "./SteeringApi.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"
import { DistributionConsumer } from "./PlaceSchemas.ts"
import { listBelow } from "./RecordApi.ts"

export const auctionSchemas = schemasOf(declaration, Configuration.fields, ["settleAt", "startPrice"])

const Bid = Schema.Struct({ bidderHandle: Schema.String, amount: Price, placedAt: SentTimestamp })

/** What only staff may know of a running auction. */
export const auctionFacts = {
  leadingBids: Schema.Array(Bid).annotate({
    description: `The bids that have won a unit, or win one as it stands; the highest first, at most ${bidsShownMax}.`
  }),
  isReserveMet: Schema.NullOr(Schema.Boolean).annotate({
    description: "Whether the highest bid reaches the `reservePrice`. Null without a reserve."
  })
}

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
)
  .add(
    listBelow("listAuctionBids", "/auctions/:id/bids", {
      sorts: bidSorts,
      only: {
        status: Schema.optionalKey(
          Schema.Literals(["WINNING", "OUTBID", "WON", "LOST", "COMPLETED"]).annotate({
            description: "Only bids of bidders in this status."
          })
        )
      },
      item: DistributionConsumer,
      page: "BidPage",
      summary: "List an auction's bids",
      description:
        "Lists each bidder's last bid as last recorded, in the order in which bids win: the highest amount first, and of " +
        "equal ones the earlier. Denied bidders and those without a bid are left out."
    }),
    HttpApiEndpoint.post("closeNow", "/auctions/:id/close", {
      params: { id: Id },
      payload: whyBody,
      success: auctionSchemas.Record,
      error: [NotFound, Conflict, NotOpenYetWithHeaders]
    }).annotateMerge(
      OpenApi.annotations({
        identifier: "closeAuction",
        summary: "Close an auction before its time",
        description:
          "The auction takes no more bids, and is settled at once: the leading bids that reach the reserve win. To call " +
          "it off, end it. `reason` is recorded with the author, and `note` is kept in the audit log. A closed auction is a 409 `CLOSED`."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Auctions",
      description: "English auctions, won by the highest bidders, and Dutch auctions, whose price falls."
    })
  ) {}
