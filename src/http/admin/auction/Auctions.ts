/** The handlers of auctions on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { makeHandlers } from "../mechanism/MechanismHandlers.ts"

export const AuctionHandlers = HttpApiBuilder.group(AdminApi, "auctions", (handlers) =>
  Effect.map(makeHandlers("auction"), (shared) => handlers.handleAll(shared))
)
