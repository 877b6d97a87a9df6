/** The worker that tells stocks of orders and variants of their stocks, over an engine with a test clock. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../src/engine/Engine.ts"
import { Unavailable } from "../../src/store/postgres/Unavailable.ts"
import { type StockMessage, StockMessages } from "../../src/store/stock/StockMessages.ts"
import { Stocks } from "../../src/store/stock/Stocks.ts"
import * as StockRecords from "../../src/workers/StockRecords.ts"
import { createStock, stock } from "../engine/lifecycle/stockFixture.ts"
import { Hands, layerJournal, queueId, tenant } from "../engine/engineFixture.ts"

/** The tables of a world: messages that are due, and the numbers that variants show. */
const aWorld = () => {
  let due: ReadonlyArray<StockMessage> = []
  const shown: Array<number> = []
  let isDown = false
  const messages = StockMessages.of({
    deliver: (tell) =>
      Effect.gen(function* () {
        const outcomes = yield* Effect.forEach(due, tell)
        due = due.filter((_, index) => outcomes[index] === false)
        return false
      })
  })
  const show = (_: unknown, __: string, units: number) =>
    Effect.suspend(() =>
      isDown ? Effect.fail(new Unavailable({ cause: "away" })) : Effect.sync(() => void shown.push(units))
    )
  return {
    shown,
    due: () => due.map(({ id }) => id),
    note: (...more: ReadonlyArray<Omit<StockMessage, "tenant">>) => {
      due = [...due, ...more.map((message) => ({ ...message, tenant }))]
    },
    setDown: (value: boolean) => {
      isDown = value
    },
    layer: StockRecords.layer.pipe(
      Layer.provide(Layer.succeed(StockMessages, messages)),
      Layer.provide(Layer.succeed(Stocks, { show } as unknown as Stocks["Service"])),
      Layer.provideMerge(Engine.layer({ node: "here" })),
      Layer.provideMerge(layerJournal)
    )
  }
}

const pass = (millis: number) =>
  Effect.repeat(Effect.andThen(TestClock.adjust(50), Effect.repeat(Effect.yieldNow, { times: 50 })), {
    times: millis / 50 - 1
  })

const facts = Effect.flatMap(Engine, (engine) => engine.facts(stock))
const order = (orderId: string, units: number) =>
  Effect.flatMap(Engine, (engine) => engine.sendAdmin(stock, { _tag: "CountOrder", orderId, units }))

describe("the worker for the records of stocks", () => {
  it.effect("frees units of cancelled orders, and of orders that were not written, each once", () => {
    const world = aWorld()
    return Effect.gen(function* () {
      yield* createStock({}, 10)
      yield* order("cancelled", 3)
      yield* order("unwritten", 2)
      const cancelled = { id: "cancelled/1", stockId: stock.id, units: 3 }
      const unwritten = { id: "unwritten", stockId: stock.id, units: null }
      world.note(cancelled, unwritten, { id: "nowhere", stockId: queueId(51), units: 1 })
      yield* pass(300)
      assert.deepStrictEqual(world.due(), [])
      assert.deepInclude(yield* facts, { free: 10, sold: 0 })
      world.note(cancelled, unwritten)
      yield* pass(300)
      assert.deepInclude(yield* facts, { onHand: 10, free: 10, sold: 0 })
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("keeps a message for a stock that cannot be reached, and tells it later", () => {
    const world = aWorld()
    return Effect.gen(function* () {
      const hands = yield* Hands
      yield* createStock({}, 10)
      yield* order("one", 4)
      const reconnect = yield* hands.cut
      world.note({ id: "one/1", stockId: stock.id, units: 4 })
      yield* pass(500)
      assert.deepStrictEqual(world.due(), ["one/1"])
      yield* reconnect
      yield* pass(10_000)
      assert.deepStrictEqual(world.due(), [])
      assert.deepInclude(yield* facts, { free: 10 })
    }).pipe(Effect.provide(world.layer))
  })

  it.effect("writes the number of units that are not sold when it has changed, until it is written", () => {
    const world = aWorld()
    return Effect.gen(function* () {
      yield* createStock({}, 10)
      yield* pass(3_000)
      assert.strictEqual(world.shown.at(-1), 10)
      world.setDown(true)
      yield* order("one", 4)
      yield* pass(3_000)
      assert.strictEqual(world.shown.at(-1), 10)
      world.setDown(false)
      yield* pass(10_000)
      assert.strictEqual(world.shown.at(-1), 6)
      const written = world.shown.length
      yield* pass(10_000)
      assert.strictEqual(world.shown.length, written)
    }).pipe(Effect.provide(world.layer))
  })
})
