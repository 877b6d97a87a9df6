/** Auctions, as the Consumer API declares them (interface document 2.8; completions 3, "Auction"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Price } from "../../../domain/values/Amount.ts"
import { AuctionType, bidsShownMax, DenialReason } from "../../../domain/auction/Auction.ts"
import { AdminReason } from "../../../domain/mechanism/Denial.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import { ConsumerAction, PublicRead } from "../../credentials/Credentials.ts"
import { RateCategory } from "../../limits/Limit.ts"
import { answersTo } from "../../errors/Refusals.ts"
import * as ServerActions from "../../server/ServerActions.ts"
import { alreadyCompleted, completing } from "../mechanism/GrantAnswers.ts"
import { endpointsOf, grantEndpointsOf } from "../mechanism/MechanismApi.ts"
import { publicFields } from "../mechanism/PublicMechanism.ts"

/** An auction as everybody may see it. The reserve is not public. */
export const PublicAuction = Schema.Struct(
  publicFields({
    /** From this instant on no bid counts; late bids may have moved it. */
    closeAt: SentTimestamp,
    settleAt: SentTimestamp,
    currencyCode: Schema.String,
    auctionType: AuctionType,
    quantity: Schema.Int,
    supportsGuest: Schema.Boolean,
    autoExtendSeconds: Schema.Int,
    startPrice: Price,
    minBidIncrement: Schema.NullOr(Price),
    maxBid: Schema.NullOr(Price),
    maxBidJump: Schema.NullOr(Price),
    floorPrice: Schema.NullOr(Price),
    priceDropAmount: Schema.NullOr(Price),
    priceDropIntervalSeconds: Schema.NullOr(Schema.Int),
    admissionExpirationSeconds: Schema.NullOr(Schema.Int)
  })
).annotate({ identifier: "Auction" })

const participation = {
  enteredAt: SentTimestamp,
  bidderHandle: Schema.String,
  bidCount: Schema.Int,
  /** Absent before the first bid. */
  lastBidAmount: Schema.optionalKey(Price)
}

/** A consumer's own standing in an auction. */
export const AuctionState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_BID"), bidCount: Schema.Literal(0) }),
  Schema.Struct({ status: Schema.Literals(["BIDDING", "WINNING", "OUTBID"]), ...participation }),
  Schema.Struct({
    status: Schema.Literal("WON"),
    ...participation,
    winningBidAmount: Price,
    admissionGrant: Schema.String,
    wonAt: SentTimestamp,
    /** Absent if the grant does not expire. */
    expiresAt: Schema.optionalKey(SentTimestamp)
  }),
  Schema.Struct({ status: Schema.Literal("LOST"), ...participation, lostAt: SentTimestamp }),
  Schema.Struct({
    status: Schema.Literal("COMPLETED"),
    alreadyCompleted,
    ...participation,
    winningBidAmount: Price,
    completedAt: SentTimestamp
  }),
  Schema.Struct({ status: Schema.Literal("DENIED"), ...participation, reason: DenialReason, deniedAt: SentTimestamp })
]).annotate({ identifier: "AuctionState" })
export type AuctionState = typeof AuctionState.Type

/** An accepted bid, as everyone sees it. */
const Bid = Schema.Struct({
  bidderHandle: Schema.String.annotate({
    description: "The bidder's pseudonym: the same for all its bids in this auction, another in every other."
  }),
  amount: Price,
  placedAt: SentTimestamp
}).annotate({ identifier: "Bid" })

const Bids = Schema.Struct({ data: Schema.Array(Bid) }).annotate({ identifier: "Bids" })

const CurrentPrice = Schema.Struct({
  currentPrice: Price,
  remainingQuantity: Schema.Int,
  auctionEnded: Schema.Boolean
}).annotate({ identifier: "CurrentPrice" })

const params = { auctionId: Id }

/** The body and its field may be absent. */
const bidPayload = [Schema.Struct({ amount: Schema.optionalKey(Schema.NullOr(Price)) }), Schema.Null] as const

/** Bids in an answer if the request gives no limit. */
export const limitDefault = 20

const query = {
  limit: Schema.optionalKey(
    Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: bidsShownMax }))
  )
}

const says = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The same texts, with the limit declared as an integer. It arrives as text. */
const saysOfBids = (summary: string, description: string) =>
  OpenApi.annotations({
    summary,
    description,
    transform: ({ parameters, ...operation }) => ({
      ...operation,
      parameters: (parameters as ReadonlyArray<{ readonly name: string }>).map((parameter) =>
        parameter.name === "limit" ? { ...parameter, schema: limitSchema } : parameter
      )
    })
  })

const limitSchema = { type: "integer", minimum: 1, maximum: bidsShownMax, default: limitDefault }

const group = HttpApiGroup.make("auctions").annotateMerge(
  OpenApi.annotations({
    title: "Auctions",
    description: `Bids for a number of units: by the highest bidders, or at a falling price. ${ServerActions.description}`
  })
)

const location = { path: "/auctions", param: "auctionId", State: AuctionState } as const
const auction = endpointsOf({ ...location, Public: PublicAuction })
const grant = grantEndpointsOf({ ...location, Reason: AdminReason })

export class AuctionsGroup extends group.add(
  auction.get.annotateMerge(
    says("Get an auction", "Its terms and where it stands; late bids may have moved `closeAt` and `settleAt`.")
  ),
  auction.enter.annotateMerge(
    says(
      "Enter an auction",
      "Joins without a bid: `BIDDING` until the first one. A bid enters by itself. Entering again changes nothing."
    )
  ),
  HttpApiEndpoint.post("bid", "/auctions/:auctionId/bid", {
    params,
    payload: bidPayload,
    success: AuctionState,
    error: answersTo.bid
  })
    .annotate(RateCategory, "auctionBid")
    .middleware(ConsumerAction)
    .annotateMerge(
      says(
        "Bid",
        "`english`: `amount` is needed. It must be at least `startPrice` and exceed the bidder's own last bid; once as many lead as there are units, it must also be at least the lowest leading bid plus `minBidIncrement`, for those who lead too. " +
          "`dutch`: takes a unit at the current price; `amount`, if present, is the most to be paid. A bidder with a unit gets no second one: bidding again answers the present state. " +
          "A bid is in whole minor units of the currency (400). Bids are final. 409 `BID_TOO_LOW` says in `minimumBid` what would be enough at this moment; 409 `BID_TOO_HIGH` says in `maximumBid` what is the most: `maxBid`, or `maxBidJump` above the minimum, or the highest amount that another bid can follow; 409 `SOLD_OUT`: every unit of a dutch auction is taken; 409 `CLOSED`: the bid came at `closeAt` or later."
      )
    ),
  auction.status.annotateMerge(
    says("The consumer's standing", "`NOT_BID` for one who never entered; `WINNING` and `OUTBID` until the settlement.")
  ),
  auction.events.annotateMerge(
    says("The consumer's standing, as it changes", "Server-Sent Events; what they say is what `/status` says.")
  ),
  HttpApiEndpoint.get("bids", "/auctions/:auctionId/bids", { params, query, success: Bids, error: answersTo.read })
    .middleware(PublicRead)
    .annotateMerge(
      saysOfBids(
        "The leading bids",
        "One for each unit at most, the highest first, of equal ones the earlier: those that win if no higher one comes, and once the auction is settled those that have won."
      )
    ),
  HttpApiEndpoint.get("bidHistory", "/auctions/:auctionId/bids/history", {
    params,
    query,
    success: Bids,
    error: answersTo.read
  })
    .middleware(PublicRead)
    .annotateMerge(saysOfBids("The latest bids", "Every accepted bid, whatever became of it, the newest first.")),
  HttpApiEndpoint.get("highestBid", "/auctions/:auctionId/highest-bid", {
    params,
    success: Schema.Struct({ highestBid: Schema.NullOr(Bid) }).annotate({ identifier: "HighestBid" }),
    error: answersTo.read
  })
    .middleware(PublicRead)
    .annotateMerge(says("The highest bid", "The first of the leading bids; null while there is none.")),
  HttpApiEndpoint.get("currentPrice", "/auctions/:auctionId/current-price", {
    params,
    success: CurrentPrice,
    error: answersTo.read
  })
    .middleware(PublicRead)
    .annotateMerge(
      says(
        "The current price",
        "`dutch`: what a unit costs at this moment. `english`: the lowest leading bid once as many lead as there are units, before that `startPrice`. `remainingQuantity` is the units nobody has won yet; `auctionEnded` says that no bid counts any more."
      )
    ),
  grant.deny.annotateMerge(
    says(
      "Deny a bidder, or its grant",
      "If its bid led, the next best one leads instead. A unit that was won is not given to anyone else."
    )
  ),
  grant.complete.annotateMerge(says("Complete a grant", completing)),
  grant.validate.annotateMerge(
    says("Check a grant", "True if the token admits this consumer at this moment, or why it does not.")
  )
) {}
