/** The handlers of auctions: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Bid, Facts, View } from "../../../domain/auction/Auction.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as ServerActions from "../../server/ServerActions.ts"
import { ConsumerApi } from "../Api.ts"
import { AuctionState, limitDefault, PublicAuction } from "./AuctionApi.ts"
import * as GrantAnswers from "../mechanism/GrantAnswers.ts"
import * as LiveUpdates from "../mechanism/LiveUpdates.ts"
import * as Protection from "../experience/Protection.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"

type AuctionRef = MechanismRef<"auction">

/** The handlers of the group `auctions`; needs the engine and grants. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "auctions",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const grants = yield* GrantAnswers.make
    const ifInvited = yield* Protection.make
    const { onGrant } = yield* ServerActions.make("auction")

    /** A consumer's view as it is sent: a grant comes with its token. */
    const sent = (auction: AuctionRef, consumerId: string, view: View): Effect.Effect<AuctionState, EngineError> => {
      if (view.status !== "WON") return Effect.succeed(view)
      const { grantSequence: _, ...won } = view
      const token = grants.token(auction, consumerId, { ...view, grantedAt: view.wonAt })
      return Effect.map(token, (admissionGrant) => ({ ...won, admissionGrant }))
    }

    const events = (yield* LiveUpdates.make)("auction", AuctionState, sent)

    /** Runs a consumer's command; answers its standing. */
    const change = (auction: AuctionRef, command: ConsumerCommand<"auction">) =>
      Effect.flatMap(engine.send(auction, command), (view) => sent(auction, command.consumerId, view))

    /** Something out of what anyone may know. */
    const told = <A>(auctionId: string, tell: (facts: Facts) => A) =>
      orAuctionAnswer(
        Effect.flatMap(CurrentTenant, ({ tenant }) => Effect.map(engine.facts(auctionOf(tenant, auctionId)), tell))
      )

    return handlers.handleAll({
      get: ({ params }) =>
        orAuctionAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            Effect.map(engine.inspect(auctionOf(tenant, params.auctionId)), (inspection) =>
              publicView(PublicAuction, inspection)
            )
          )
        ),
      enter: ({ params }) =>
        orAuctionAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const auction = auctionOf(tenant, params.auctionId)
            return ifInvited(auction, consumerId, change(auction, { _tag: "Enter", consumerId }))
          })
        ),
      bid: ({ params, payload }) =>
        orAuctionAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const auction = auctionOf(tenant, params.auctionId)
            const amount = payload?.amount ?? undefined
            const offer = amount === undefined ? {} : { amount }
            return ifInvited(auction, consumerId, change(auction, { _tag: "Bid", consumerId, ...offer }))
          })
        ),
      status: ({ params }) =>
        orAuctionAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const auction = auctionOf(tenant, params.auctionId)
            return Effect.flatMap(engine.view(auction, consumerId), (view) => sent(auction, consumerId, view))
          })
        ),
      events: ({ params, headers }) => events(params.auctionId, headers),
      bids: ({ params, query }) =>
        told(params.auctionId, ({ leadingBids }) => ({ data: firstOf(leadingBids, query.limit) })),
      bidHistory: ({ params, query }) =>
        told(params.auctionId, ({ latestBids }) => ({ data: firstOf(latestBids, query.limit) })),
      highestBid: ({ params }) => told(params.auctionId, ({ leadingBids: [highestBid = null] }) => ({ highestBid })),
      currentPrice: ({ params }) =>
        told(params.auctionId, ({ currentPrice, remainingQuantity, auctionEnded }) => ({
          currentPrice,
          remainingQuantity,
          auctionEnded
        })),
      deny: ({ params, payload: { consumerId, reason } }) =>
        onGrant({ mechanismId: params.auctionId, consumerId }, (auction, by) =>
          change(auction, { _tag: "Deny", consumerId, reason, by })
        ),
      complete: ({ params, payload: { consumerId } }) =>
        onGrant({ mechanismId: params.auctionId, consumerId }, (auction, by) =>
          change(auction, { _tag: "Complete", consumerId, by })
        ),
      validate: ({ params, payload }) =>
        onGrant({ mechanismId: params.auctionId, consumerId: payload.consumerId }, (auction) =>
          Effect.flatMap(engine.view(auction, payload.consumerId), (view) =>
            grants.validate(auction, payload, standingOf(view))
          )
        )
    })
  })
)

const orAuctionAnswer = orAnswer("auction")

const firstOf = (bids: ReadonlyArray<Bid>, limit = limitDefault): ReadonlyArray<Bid> => bids.slice(0, limit)

const auctionOf = (tenant: Tenant, id: string): AuctionRef => ({ kind: "auction", id, tenant })

/** What became of the consumer's grant, if it had one. */
function standingOf(view: View): GrantAnswers.GrantStatus {
  switch (view.status) {
    case "WON":
      return { ...view, grantedAt: view.wonAt }
    case "COMPLETED":
      return "completed"
    case "DENIED":
      return view.reason === "ADMISSION_EXPIRED" ? "expired" : "denied"
    default:
      return "none"
  }
}
