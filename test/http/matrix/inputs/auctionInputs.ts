/** Inputs of the operations on auctions. */
import type { MakeInput } from "../inputs.ts"
import { inputsOf } from "./mechanismInputs.ts"
import { byServer } from "../world.ts"
import { withEmail } from "./withEmail.ts"

/** Dutch, so that a bid wins at once. */
const settings = () => ({
  name: "Lot",
  auctionType: "dutch",
  quantity: 10,
  startPrice: "100",
  floorPrice: "40",
  priceDropAmount: "15",
  priceDropIntervalSeconds: 3600,
  settleAt: new Date(Date.now() + 3_600_000).toISOString()
})

const { on, forHolder, admin, record } = inputsOf("auctions", "auctionId", settings, (own, id) =>
  byServer("consumer", own, `/auctions/${id}/bid`, {}, own.consumerId)
)

/** The inputs, by operation. */
export const auctionInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/auctions/:auctionId": on({ status: 200 }),
  "POST /api/auctions/:auctionId/enter": on({ status: 200, guestStatus: 200 }),
  "POST /api/auctions/:auctionId/bid": on({ status: 200, guestStatus: 200, body: { amount: "100" } }),
  "GET /api/auctions/:auctionId/status": on({ status: 200, guestStatus: 200 }),
  "GET /api/auctions/:auctionId/events": on({ status: 200, guestStatus: 200 }, "end"),
  "GET /api/auctions/:auctionId/bids": on({ status: 200, query: "limit=10" }),
  "GET /api/auctions/:auctionId/bids/history": on({ status: 200, query: "limit=10" }),
  "GET /api/auctions/:auctionId/highest-bid": on({ status: 200 }),
  "GET /api/auctions/:auctionId/current-price": on({ status: 200 }),
  "GET /api/auctions/:auctionId/outbid-alert": on({ status: 200, guestStatus: 200 }),
  "PUT /api/auctions/:auctionId/outbid-alert": withEmail(on({ status: 200, body: { language: "de" } })),
  "DELETE /api/auctions/:auctionId/outbid-alert": on({ status: 200, guestStatus: 200 }),
  "POST /api/auctions/:auctionId/deny": forHolder({ reason: "ADMIN_ACTION" }),
  "POST /api/auctions/:auctionId/complete": forHolder(),
  "POST /api/auctions/:auctionId/validate": forHolder({ token: "" }),
  ...admin,
  "GET /api/auctions/:id/bids": record(),
  "POST /api/auctions/:id/close": record()
}
