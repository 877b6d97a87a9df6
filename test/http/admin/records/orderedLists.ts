/** The lists of places in an order of their kind. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aSequence } from "../adminFixture.ts"
import { type MakeList, request } from "./listRows.ts"

const later = "2099-01-01T00:00:00.000Z"

/** The bookings of an appointment, several of each slot. A cancelled booking stays listed. */
export const bookings: MakeList = Effect.fnUntraced(function* (as) {
  const engine = yield* Engine
  const { id: sequenceId } = yield* aSequence({}, as)
  const from = Date.parse(later)
  const { id } = yield* request(as, "POST", "/appointments", {
    slotDurationMinutes: 60,
    slotsFrom: later,
    slotsUntil: "2099-01-02T00:00:00.000Z",
    sequenceId,
    name: "Fitting",
    maxCapacityPerSlot: 1_000,
    hours: { thursday: [{ from: "00:00", to: "24:00" }] }
  })
  return {
    path: `/appointments/${id}/bookings`,
    sorts: { startTime: ({ startTime }) => startTime },
    idOf: ({ consumerId }) => consumerId,
    filter: "status=BOOKED",
    make: (n: number) =>
      Effect.orDie(
        engine.send(
          { kind: "appointment", id, tenant: as.tenant },
          { _tag: "Book", consumerId: randomUUID(), isGuest: true, startTime: from + (n % 3) * 3_600_000 }
        )
      )
  }
})

/** The bids of an auction, each higher than the one before. No row is removed. */
export const bids: MakeList = Effect.fnUntraced(function* (as) {
  const engine = yield* Engine
  const { id: sequenceId } = yield* aSequence({}, as)
  const { id } = yield* request(as, "POST", "/auctions", {
    sequenceId,
    name: "Lot",
    settleAt: later,
    startPrice: "10"
  })
  return {
    path: `/auctions/${id}/bids`,
    sorts: { rank: ({ lastBidAmount }) => -Number(lastBidAmount) },
    idOf: ({ consumerId }) => consumerId,
    filter: "status=WINNING",
    make: (n: number) =>
      Effect.orDie(
        engine.send(
          { kind: "auction", id, tenant: as.tenant },
          { _tag: "Bid", consumerId: randomUUID(), isGuest: true, amount: `${10 + n}` }
        )
      )
  }
})
