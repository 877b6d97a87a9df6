/** Inputs of the operations on auctions. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Input, MakeInput, Name } from "./inputs.ts"
import { byServer, type Side, type World } from "./world.ts"

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

const made = (side: Side) =>
  Effect.map(
    byServer("admin", side, "/auctions", { ...settings(), sequenceId: side.sequenceId }),
    ({ id }) => id as string
  )

/** Creates auctions in all tenants. Returns the name of the own one. */
const auctionNamed = Effect.fnUntraced(function* (own: Side, { sides }: World) {
  const others = [yield* made(sides.test), yield* made(sides.foreign)]
  return { own: yield* made(own), others, unknown: randomUUID() } satisfies Name
})

/** An operation on an auction, for any caller or its consumer. */
const onAuction =
  (input: Omit<Input, "params" | "names">, before?: "end"): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const auction = yield* auctionNamed(own, world)
      if (before === "end") yield* byServer("admin", own, `/auctions/${auction.own}/end`, {})
      return { ...input, params: { auctionId: auction.own }, names: [auction] }
    })

/** The server's operation on an auction, for a consumer that has won. */
const forWinner =
  (more: object = {}): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const auction = yield* auctionNamed(own, world)
      const { consumerId } = own
      const { sides } = world
      const won = yield* byServer("consumer", own, `/auctions/${auction.own}/bid`, {}, consumerId)
      const body = { consumerId, ...more, ...("token" in more && { token: won.admissionGrant as string }) }
      const others = [sides.test.consumerId, sides.foreign.consumerId]
      const names = [auction, { own: consumerId, others, unknown: randomUUID() }]
      return { params: { auctionId: auction.own }, body, names, status: 200 }
    })

/** An admin's operation on an auction. */
const record =
  (body?: object): MakeInput =>
  (own, world) =>
    Effect.map(auctionNamed(own, world), (auction) => ({
      params: { id: auction.own },
      names: [auction],
      status: 200,
      ...(body && { body })
    }))

const sequenceNamed = (own: Side, { sides }: World): Name => ({
  own: own.sequenceId,
  others: [sides.test.sequenceId, sides.foreign.sequenceId],
  unknown: randomUUID()
})

/** The inputs, by operation. */
export const auctionInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/auctions/:auctionId": onAuction({ status: 200 }),
  "POST /api/auctions/:auctionId/enter": onAuction({ status: 200, guestStatus: 200 }),
  "POST /api/auctions/:auctionId/bid": onAuction({ status: 200, guestStatus: 200, body: { amount: "100" } }),
  "GET /api/auctions/:auctionId/status": onAuction({ status: 200, guestStatus: 200 }),
  "GET /api/auctions/:auctionId/events": onAuction({ status: 200, guestStatus: 200 }, "end"),
  "GET /api/auctions/:auctionId/bids": onAuction({ status: 200, query: "limit=10" }),
  "GET /api/auctions/:auctionId/bids/history": onAuction({ status: 200, query: "limit=10" }),
  "GET /api/auctions/:auctionId/highest-bid": onAuction({ status: 200 }),
  "GET /api/auctions/:auctionId/current-price": onAuction({ status: 200 }),
  "POST /api/auctions/:auctionId/deny": forWinner({ reason: "ADMIN_ACTION" }),
  "POST /api/auctions/:auctionId/complete": forWinner(),
  "POST /api/auctions/:auctionId/validate": forWinner({ token: "" }),
  "POST /api/auctions": (own, world) =>
    Effect.succeed({
      body: { ...settings(), sequenceId: own.sequenceId },
      status: 201,
      names: [sequenceNamed(own, world)]
    }),
  "GET /api/auctions": (own, world) =>
    Effect.succeed({
      query: `sequenceId=${own.sequenceId}`,
      status: 200,
      strangerStatus: 200,
      names: [sequenceNamed(own, world)]
    }),
  "GET /api/auctions/:id": record(),
  "PUT /api/auctions/:id": record({ name: "Another" }),
  "DELETE /api/auctions/:id": record(),
  "POST /api/auctions/:id/end": record()
}
