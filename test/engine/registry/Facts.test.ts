import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Auction from "../../../src/domain/auction/Auction.ts"
import { recordOf } from "../../../src/engine/actor/Record.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { consumer, Hands, layerJournal, queueId, stranger, tenant } from "../engineFixture.ts"

const layer = Engine.layer({ node: "here" }).pipe(Layer.provideMerge(layerJournal))

const auction = { kind: "auction", id: queueId(2), tenant } as const
const bid = (n: number, amount: string) => ({ _tag: "Bid", consumerId: consumer(n), amount }) as const

/** Runs every fiber that is ready. */
const settle = Effect.repeat(Effect.yieldNow, { times: 50 })

/** An english auction that closes after a minute. */
const createAuction = Effect.gen(function* () {
  const journal = yield* Journal
  const { decider } = Auction
  const state = decider.initial()
  const configuration: Auction.Configuration = {
    name: "lot",
    timeZone: "UTC",
    closeAt: 60_000,
    settleAt: 60_000,
    currencyCode: "EUR",
    auctionType: "english",
    quantity: 1,
    autoExtendSeconds: 0,
    startPrice: "1"
  }
  const event: Auction.Event = { _tag: "Configured", at: 0, configuration, by: "test", handleSalt: "00".repeat(16) }
  decider.evolve(state, event)
  const { id, kind } = auction
  yield* journal.create([
    {
      identity: { ...tenant, id, kind, experienceId: queueId(100), sequenceId: queueId(101) },
      createdBy: "test",
      commit: {
        mechanismId: id,
        kind,
        expectedSequence: 0,
        events: [event],
        places: [],
        wakeAt: decider.wakeAt(state) ?? null,
        record: recordOf(decider, state, [event], 0)
      }
    }
  ])
})

describe("the facts of a mechanism", () => {
  it.effect("are committed: a reader waits for the write in progress", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const hands = yield* Hands
      yield* createAuction
      yield* engine.send(auction, bid(1, "5"))
      const release = yield* hands.hold
      yield* Effect.forkChild(engine.send(auction, bid(2, "7")))
      yield* settle
      const asked = yield* Effect.forkChild(engine.facts(auction))
      yield* settle
      assert.isUndefined(asked.pollUnsafe())
      yield* release
      const { leadingBids } = yield* Fiber.join(asked)
      assert.deepStrictEqual(
        leadingBids.map(({ amount }) => amount),
        ["7"]
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("change with the clock, without a caller", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createAuction
      yield* engine.send(auction, bid(1, "5"))
      yield* TestClock.adjust("59999 millis")
      assert.deepInclude(yield* engine.facts(auction), { auctionEnded: false, remainingQuantity: 1 })
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* engine.facts(auction), { auctionEnded: true, remainingQuantity: 0 })
      assert.strictEqual((yield* engine.view(auction, consumer(1))).status, "WON")
    }).pipe(Effect.provide(layer))
  )

  it.effect("are not shown to another tenant", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createAuction
      const foreign = yield* Effect.flip(engine.facts({ ...auction, tenant: stranger }))
      assert.strictEqual(foreign._tag, "MechanismNotFound")
    }).pipe(Effect.provide(layer))
  )
})
