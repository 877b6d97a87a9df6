/** The handlers of auctions on the Consumer API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Consumers } from "../../../auth/sessions/Consumers.ts"
import type { Bid, Facts } from "../../../domain/auction/Auction.ts"
import { Engine } from "../../../engine/Engine.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeGrantHandlers } from "../mechanism/GrantHandlers.ts"
import type { ToEntry, ToMechanism } from "../mechanism/Handling.ts"
import { location, limitDefault } from "../../../api/consumer/AuctionApi.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "auctions", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const consumers = yield* Consumers
    const auction = yield* makeGrantHandlers({
      kind: "auction",
      ...location,
      grantedAt: (view) => view.wonAt,
      standing: (view) => view
    })

    /** A handler that answers a part of the public facts. */
    const published =
      <Request extends ToMechanism<"auctionId">, A>(answer: (facts: Facts, request: Request) => A) =>
      (request: Request) =>
        auction.orHttpAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) =>
            Effect.map(engine.facts(auction.refOf(tenant, request)), (facts) => answer(facts, request))
          )
        )

    return handlers.handleAll({
      ...auction.reads,
      ...auction.grantActions,
      enter: auction.entry((ref, { consumerId, isGuest, risk }) =>
        engine.send(ref, { _tag: "Enter", consumerId, isGuest, risk })
      ),
      bid: auction.entry((ref, { consumerId, isGuest, risk }, { payload }: ToBid) => {
        const amount = payload?.amount ?? undefined
        const bid = { _tag: "Bid", consumerId, isGuest, risk, ...(amount !== undefined && { amount }) } as const
        const sent = engine.send(ref, bid)
        if (payload?.confirmed !== true) return sent
        // Few bids need a confirmation, so only a refused one asks the database for the bidder's address.
        return Effect.catchTag(sent, "BidUnlikely", (refusal) =>
          Effect.flatMap(consumers.hasProvedAddress(ref.tenant, consumerId), (hasProved) =>
            hasProved ? engine.send(ref, { ...bid, isConfirmed: true }) : Effect.fail(refusal)
          )
        )
      }),
      bids: published(({ leadingBids }, { query }: ToBids) => ({ data: firstOf(leadingBids, query.limit) })),
      bidHistory: published(({ latestBids }, { query }: ToBids) => ({ data: firstOf(latestBids, query.limit) })),
      highestBid: published(({ leadingBids: [highestBid = null] }) => ({ highestBid })),
      currentPrice: published(({ currentPrice, remainingQuantity, auctionEnded }) => ({
        currentPrice,
        remainingQuantity,
        auctionEnded
      }))
    })
  })
)

interface ToBid extends ToEntry<"auctionId"> {
  readonly payload: { readonly amount?: string | null; readonly confirmed?: boolean | null } | null
}

interface ToBids extends ToMechanism<"auctionId"> {
  readonly query: { readonly limit?: number }
}

const firstOf = (bids: ReadonlyArray<Bid>, limit = limitDefault): ReadonlyArray<Bid> => bids.slice(0, limit)
