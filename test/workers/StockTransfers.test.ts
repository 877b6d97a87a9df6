import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Event } from "../../src/domain/mechanism/Decider.ts"
import type { Configuration, Taker } from "../../src/domain/stock/Configuration.ts"
import type { Tenant } from "../../src/domain/values/Ids.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import * as StockTransfers from "../../src/workers/StockTransfers.ts"
import {
  byHand,
  consumer,
  createQueue,
  enter,
  Hands,
  layerJournal,
  queue,
  queueId,
  stranger,
  tenant
} from "../engine/engineFixture.ts"

const layer = StockTransfers.layer.pipe(
  Layer.provideMerge(Engine.layer({ node: "here" })),
  Layer.provideMerge(layerJournal)
)

const stockId = queueId(50)

const stockOf = (owner: Tenant) => ({ kind: "stock", id: stockId, tenant: owner }) as const

const takers: ReadonlyArray<Taker> = [{ distributionId: queueId(1) }, { distributionId: queueId(2) }]

/** Creates and starts a stock of so many units with these takers. */
const createStock = Effect.fnUntraced(function* (units: number, owner: Tenant = tenant) {
  const journal = yield* Journal
  const engine = yield* Engine
  const configuration: Configuration = { name: "Stock", variantIds: [queueId(60)], takers, returnsCancelled: true }
  const identity = { ...owner, id: stockId, kind: "stock", experienceId: undefined, sequenceId: undefined } as const
  yield* journal.create([creationOf(identity, configuration, "test", 0)])
  yield* engine.start(stockId)
  yield* engine.sendAdmin(stockOf(owner), { _tag: "Adjust", units, reason: "DELIVERED", by: "test" })
})

const selling = { ...byHand, admitRate: 60_000, admissionExpirationSeconds: 10, stockId }

/** Its grants do not expire. */
const lasting = { ...byHand, admitRate: 60_000, stockId }

/** Lets the clock and every fiber run. */
const pass = (millis: number) =>
  Effect.andThen(TestClock.adjust(50), Effect.repeat(Effect.yieldNow, { times: 100 })).pipe(
    Effect.repeat({ times: millis / 50 - 1 })
  )

const enterAll = (n: number, from: number, to: number) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    for (let person = from; person < to; person++) {
      yield* Effect.retry(engine.send(queue(n), enter(person)), { times: 3 })
    }
  })

const waitlist = (n: number) => ({ kind: "waitlist", id: queueId(n), tenant }) as const

const createWaitlist = Effect.fnUntraced(function* (n: number) {
  const journal = yield* Journal
  const engine = yield* Engine
  const identity = { ...tenant, id: queueId(n), kind: "waitlist", experienceId: "e", sequenceId: "s" } as const
  const configuration = { name: "Waitlist", timeZone: "UTC", offers: true, admissionExpirationSeconds: 10, stockId }
  yield* journal.create([creationOf(identity, configuration, "test", 0)])
  yield* engine.start(queueId(n))
})

const standing = (person: number) => Effect.flatMap(Engine, (engine) => engine.view(waitlist(2), consumer(person)))

const admitted = (n: number) =>
  Effect.flatMap(Engine, (engine) => Effect.map(engine.inspect(queue(n)), ({ live }) => live.counts["GRANTED"]))

const journalOf = Effect.fnUntraced(function* (id: string) {
  const journal = yield* Journal
  const head = yield* journal.head(id)
  const events = yield* Stream.runCollect(journal.read(head!, 0))
  return events.flat().map(({ event }) => event as Event & { readonly units?: number; readonly transfer?: number })
})

const sum = (events: ReadonlyArray<{ readonly _tag: string; readonly units?: number }>, tag: string): number =>
  events.reduce((total, event) => total + (event._tag === tag ? event.units! : 0), 0)

/** Asserts that each unit that left came once, and that the stock knows where all are. */
const assertConserved = Effect.gen(function* () {
  const engine = yield* Engine
  const { onHand, free, underway, sold, accounts } = yield* engine.facts(stockOf(tenant))
  const stock = yield* journalOf(stockId)
  const mechanisms = [...(yield* journalOf(queueId(1))), ...(yield* journalOf(queueId(2)))]
  assert.strictEqual(free + underway + sold + accounts.reduce((all, { allocated }) => all + allocated, 0), onHand)
  assert.strictEqual(sum(stock, "UnitsLeft"), sum(mechanisms, "UnitsCame"))
  assert.strictEqual(sum(mechanisms, "UnitsLeft"), sum(stock, "UnitsCame"))
})

describe("the worker for stocks", () => {
  it.effect("sends units to people who wait, in the order of the takers, within a second", () =>
    Effect.gen(function* () {
      yield* createQueue(1, selling)
      yield* createQueue(2, selling)
      yield* createStock(4)
      yield* enterAll(1, 1, 4)
      yield* enterAll(2, 10, 15)
      yield* pass(1_000)
      assert.deepStrictEqual([yield* admitted(1), yield* admitted(2)], [3, 1])
      yield* assertConserved
    }).pipe(Effect.provide(layer))
  )

  it.effect("brings a unit whose grant has expired to the next taker within a second", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, selling)
      yield* createQueue(2, selling)
      yield* createStock(2)
      yield* enterAll(1, 1, 3)
      yield* pass(1_000)
      yield* enterAll(2, 10, 15)
      yield* engine.sendAdmin(queue(1), { _tag: "End", by: "test" })
      yield* pass(8_000)
      assert.strictEqual(yield* admitted(2), 0)
      yield* pass(2_000)
      assert.strictEqual(yield* admitted(2), 2)
      yield* assertConserved
      assert.strictEqual((yield* engine.inspect(queue(1))).units!.isOver, true)
    }).pipe(Effect.provide(layer))
  )

  it.effect("offers a unit that was not used to the next member of a waitlist within a second", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, selling)
      yield* createWaitlist(2)
      yield* createStock(1)
      yield* enterAll(1, 1, 2)
      yield* pass(1_000)
      for (const person of [10, 11]) {
        yield* engine.send(waitlist(2), { _tag: "Enter", consumerId: consumer(person) })
      }
      yield* engine.sendAdmin(queue(1), { _tag: "End", by: "test" })
      yield* pass(8_000)
      assert.strictEqual((yield* standing(10)).status, "ENTERED")
      yield* pass(2_000)
      const offer = yield* standing(10)
      assert.strictEqual(offer.status, "OFFERED")
      assert.strictEqual((yield* standing(11)).status, "ENTERED")
      const lapsed = (yield* journalOf(queueId(1))).find(({ _tag }) => _tag === "Expired")!
      assert(offer.status === "OFFERED")
      assert.isAtMost(offer.offeredAt - lapsed.at, 1_000)
      yield* pass(10_000)
      assert.strictEqual((yield* standing(10)).status, "EXPIRED")
      assert.strictEqual((yield* standing(11)).status, "OFFERED")
      yield* assertConserved
    }).pipe(Effect.provide(layer))
  )

  it.effect("tells a queue without a free unit whether one may come, as long as others hold units", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const soldOut = Effect.map(engine.view(queue(2), consumer(11)), (view) =>
        view.status === "QUEUED" ? view.soldOut : assert.fail(view.status)
      )
      const complete = (n: number, person: number) =>
        engine.send(queue(n), { _tag: "Complete", consumerId: consumer(person), by: "test" })
      yield* createQueue(1, lasting)
      yield* createQueue(2, lasting)
      yield* createStock(2)
      yield* enterAll(1, 1, 2)
      yield* enterAll(2, 10, 12)
      yield* pass(1_000)
      yield* complete(2, 10)
      yield* pass(1_000)
      // The first queue's consumer holds the other unit.
      assert.deepStrictEqual(yield* soldOut, { mayReturn: true })
      yield* complete(1, 1)
      yield* pass(1_000)
      assert.deepStrictEqual(yield* soldOut, { mayReturn: false })
      const told = (yield* journalOf(queueId(2))).filter(({ _tag }) => _tag === "SupplyNoted")
      assert.lengthOf(told, 1)
      // Units return: the queue goes on by itself.
      yield* engine.sendAdmin(stockOf(tenant), { _tag: "Adjust", units: 1, reason: "RETURNED", by: "test" })
      yield* pass(1_000)
      assert.strictEqual((yield* engine.view(queue(2), consumer(11))).status, "GRANTED")
      yield* assertConserved
    }).pipe(Effect.provide(layer))
  )

  it.effect("loses and doubles no unit, whichever write of a transfer fails, before or after it is on disk", () =>
    Effect.gen(function* () {
      for (let failing = 0; failing < 8; failing++) {
        for (const how of ["failNext", "failNextAfterWriting"] as const) {
          yield* Effect.gen(function* () {
            const hands = yield* Hands
            yield* createQueue(1, lasting)
            yield* createQueue(2, lasting)
            yield* createStock(3)
            yield* enterAll(1, 1, 3)
            yield* enterAll(2, 10, 15)
            const until = hands.commits.length + failing
            for (let passes = 0; passes < 40 && hands.commits.length < until; passes++) yield* pass(50)
            yield* hands[how]
            yield* pass(3_000)
            yield* assertConserved
            assert.deepStrictEqual([yield* admitted(1), yield* admitted(2)], [2, 1], `${how} ${failing}`)
          }).pipe(Effect.provide(Layer.fresh(layer)))
        }
      }
    })
  )

  it.effect("sends nothing to a mechanism of another tenant, or of another stock", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      yield* createQueue(1, selling)
      yield* createQueue(2, { ...selling, stockId: queueId(51) })
      yield* createStock(3, stranger)
      yield* enterAll(1, 1, 3)
      yield* enterAll(2, 10, 12)
      yield* pass(1_000)
      assert.deepInclude(yield* engine.facts(stockOf(stranger)), { free: 3, underway: 0 })
      assert.deepStrictEqual([yield* admitted(1), yield* admitted(2)], [0, 0])
    }).pipe(Effect.provide(layer))
  )
})
