/** Auctions, as the Consumer API declares them. */
import { Schema, Tuple } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Price } from "../../domain/values/Amount.ts"
import { AuctionType, bidsShownMax, DenialReason, declaration } from "../../domain/auction/Auction.ts"
import { AdminReason } from "../../domain/mechanism/Denial.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ConsumerAction, PublicRead } from "../Credentials.ts"
import { RateCategory } from "../Annotations.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { alreadyCompleted, completing, serverActions } from "./Grants.ts"
import { publicFields } from "./PublicMechanism.ts"
import { asOf } from "./AsOf.ts"
import { endpointsOf, grantEndpointsOf } from "./MechanismApi.ts"
import { unitsLeft } from "./LiveFields.ts"

/** The public view of an auction. The reserve is not public. */
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

/** The facts of its own that an experience's live page shows. */
export const liveAuction = {
  currentPrice: Schema.NullOr(Price),
  highestBid: Schema.NullOr(Schema.Struct({ bidderHandle: Schema.String, amount: Price, placedAt: SentTimestamp })),
  minimumBid: Schema.NullOr(Price).annotate({
    description: "english: the lowest bid that a new bidder may make. Null in a dutch auction, and after the end."
  }),
  unitsLeft,
  auctionEnded: Schema.NullOr(Schema.Boolean)
}

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
])
  .mapMembers(Tuple.map(Schema.fieldsAssign({ asOf })))
  .annotate({ identifier: "AuctionState" })
export type AuctionState = typeof AuctionState.Type

/** The public view of an accepted bid. */
const Bid = Schema.Struct({
  bidderHandle: Schema.String.annotate({
    description:
      "The bidder's pseudonym: the same for all its bids in this auction, and different in every other auction."
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
const bidPayload = [
  Schema.Struct({
    amount: Schema.optionalKey(Schema.NullOr(Price)),
    confirmed: Schema.optionalKey(Schema.NullOr(Schema.Boolean)).annotateKey({
      description: "True: the bidder means this amount, although it was refused as `BID_UNLIKELY`."
    })
  }),
  Schema.Null
] as const

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

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({
    title: "Auctions",
    description: `Bids for a number of units, at ascending bids or at a falling price. ${serverActions}`
  })
)

/** Where the kind is found, and how it is seen. */
export const location = {
  path: declaration.path,
  param: declaration.parameter,
  State: AuctionState,
  Public: PublicAuction
} as const
const auction = endpointsOf(location)
const grant = grantEndpointsOf({ ...location, Reason: AdminReason })

export class AuctionsGroup extends group.add(
  auction.get.annotateMerge(
    says("Get an auction", "The auction's terms and state. Late bids may have moved `closeAt` and `settleAt`.")
  ),
  auction.enter.annotateMerge(
    says(
      "Enter an auction",
      "Joins without a bid: the status is `BIDDING` until the first one. A bid also enters the consumer. Entering " +
        "again changes nothing."
    )
  ),
  HttpApiEndpoint.post("bid", "/auctions/:auctionId/bid", {
    params,
    payload: bidPayload,
    success: AuctionState,
    error: mechanismErrors.bid
  })
    .annotate(RateCategory, "auctionBid")
    .middleware(ConsumerAction)
    .annotateMerge(
      says(
        "Bid",
        "`english`: `amount` is required. It must be at least `startPrice` and exceed the bidder's own last bid. Once as " +
          "many bids lead as there are units, it must also be at least the lowest leading bid plus `minBidIncrement`, for " +
          "leading bidders too.\n\n`dutch`: takes a unit at the current price. `amount` is optional and is the most to be " +
          "paid. A bidder with a unit gets no second one: another bid returns the present state.\n\nA bid is in whole minor " +
          "units of the currency (400 otherwise), and is final. 409 `BID_TOO_LOW`: `minimumBid` is the least that is " +
          "accepted now. 409 `BID_TOO_HIGH`: `maximumBid` is the most that is accepted. It is `maxBid`, or `maxBidJump` " +
          "above the minimum, or the highest amount that another bid can follow. 409 `BID_UNLIKELY`, where neither " +
          "`maxBid` nor `maxBidJump` is set: the bid is at least 101, and above 100 times the minimum; `maximumBid` is " +
          "the most that needs no confirmation. A consumer that has proved its email address or phone number by a code may " +
          "send the bid again with `confirmed: true`; for others the refusal stays. 409 `SOLD_OUT`: every unit of a dutch " +
          "auction is taken. 409 `CLOSED`: the bid came at `closeAt` or later."
      )
    ),
  auction.status.annotateMerge(
    says(
      "The consumer's standing",
      "`NOT_BID` for a consumer that never entered; `WINNING` and `OUTBID` until the settlement."
    )
  ),
  auction.events.annotateMerge(
    says("The consumer's standing, as it changes", "Server-Sent Events with the contents of `/status`.")
  ),
  HttpApiEndpoint.get("bids", "/auctions/:auctionId/bids", {
    params,
    query,
    success: Bids,
    error: mechanismErrors.read
  })
    .middleware(PublicRead)
    .annotateMerge(
      saysOfBids(
        "The leading bids",
        "At most one bid for each unit, the highest first; of equal bids the earlier first. They win if no higher bid " +
          "comes. After the settlement they are the winning bids."
      )
    ),
  HttpApiEndpoint.get("bidHistory", "/auctions/:auctionId/bids/history", {
    params,
    query,
    success: Bids,
    error: mechanismErrors.read
  })
    .middleware(PublicRead)
    .annotateMerge(
      saysOfBids("The latest bids", "Every accepted bid, whether or not it still leads, the newest first.")
    ),
  HttpApiEndpoint.get("highestBid", "/auctions/:auctionId/highest-bid", {
    params,
    success: Schema.Struct({ highestBid: Schema.NullOr(Bid) }).annotate({ identifier: "HighestBid" }),
    error: mechanismErrors.read
  })
    .middleware(PublicRead)
    .annotateMerge(says("The highest bid", "The first of the leading bids; null without any.")),
  HttpApiEndpoint.get("currentPrice", "/auctions/:auctionId/current-price", {
    params,
    success: CurrentPrice,
    error: mechanismErrors.read
  })
    .middleware(PublicRead)
    .annotateMerge(
      says(
        "The current price",
        "`dutch`: the present price of a unit. `english`: the lowest leading bid once as many lead as there are units, " +
          "and `startPrice` before that. `remainingQuantity` is the number of units not yet won. `auctionEnded` is true " +
          "once bids no longer count."
      )
    ),
  grant.deny.annotateMerge(
    says(
      "Deny a bidder, or its grant",
      "If its bid led, the next best bid leads instead, and the price is again what it would be without the bidder. The " +
        "closing stays where late bids have moved it. A unit that was won is not given to another bidder."
    )
  ),
  grant.complete.annotateMerge(says("Complete a grant", completing)),
  grant.validate.annotateMerge(
    says("Check a grant", "True if the token admits this consumer now; otherwise the reason why not.")
  )
) {}
