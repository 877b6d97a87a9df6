/** Declares auctions for the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { smallestOf, toText } from "../../../domain/values/Amount.ts"
import { Configuration, configurationProblems, fractionProblems } from "../../../domain/auction/Auction.ts"
import { fractionDigitsOf } from "../../../domain/values/Locale.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { auctionSchemas } from "../../../api/admin/AuctionApi.ts"
import type { KindOfMechanism } from "../mechanism/KindOfMechanism.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

/** The auction on the Admin API: its names, schemas and defaults. */
export const auctions: KindOfMechanism<"auction"> = {
  kind: "auction",
  Configuration,
  settings: auctionSchemas.settings,
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
}

export const AuctionHandlers = HttpApiBuilder.group(AdminApi, "auctions", (handlers) =>
  Effect.map(makeHandlers<"auction", typeof auctionSchemas.Record.Type>(auctions), (shared) =>
    handlers.handleAll(shared)
  )
)
