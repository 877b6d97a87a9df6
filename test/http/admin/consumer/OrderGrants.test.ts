/** Orders that name a distribution: they complete the consumer's grant there. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { OrderableKind } from "../../../../src/domain/mechanism/Mechanism.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aSequence, eventually, layer as adminLayer } from "../adminFixture.ts"
import { aGrant, anOrder, consumerOf, ordersOf } from "./orderFixture.ts"

const textOf = (at: number) => new Date(at).toISOString()

const soon = (seconds: number) => textOf(Date.now() + seconds * 1000)

/** Nine o'clock on the next Monday: the default opening of appointments. */
const nextMonday = () => {
  const today = new Date()
  const days = (8 - today.getUTCDay()) % 7 || 7
  return Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), today.getUTCDate() + days, 9)
}

describe("Orders through a distribution", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("complete the grant of that distribution once, and a grant has one order", () =>
      Effect.gen(function* () {
        const { queue, status, ...grant } = yield* aGrant
        const { consumerId, distributionId } = grant
        assert.strictEqual(yield* status, "GRANTED")
        const order = yield* anOrder({ consumerId, distributionId })
        assert.deepInclude(order, { ...grant, distributionType: "queue" })
        assert.strictEqual(yield* status, "COMPLETED")
        const engine = yield* Engine
        const before = (yield* engine.inspect(queue)).live.lastSequence
        const { call } = yield* Admin
        for (const more of [{}, { externalId: "another" }]) {
          const again = yield* call("POST", "/orders", { consumerId, distributionId, ...more })
          assert.deepStrictEqual([again.status, again.body.code], [409, "GRANT_HAS_ORDER"])
        }
        assert.deepStrictEqual(
          (yield* ordersOf(consumerId)).map(({ id }) => id),
          [order.id]
        )
        assert.strictEqual((yield* engine.inspect(queue)).live.lastSequence, before)
      })
    )

    it.effect("answer the first order if the same one is sent again, also at the same time", () =>
      Effect.gen(function* () {
        const { consumerId, distributionId } = yield* aGrant
        const body = { consumerId, distributionId, externalId: `shop-${consumerId}` }
        const sent = yield* Effect.all([anOrder(body), anOrder(body), anOrder(body)], { concurrency: "unbounded" })
        sent.push(yield* anOrder(body))
        assert.strictEqual(new Set(sent.map(({ id }) => id)).size, 1)
        assert.lengthOf(yield* ordersOf(consumerId), 1)
        const { call, brand } = yield* Admin
        const other = yield* call("POST", "/orders", { ...body, consumerId: yield* consumerOf(brand) })
        assert.deepStrictEqual([other.status, other.body.code], [409, "EXTERNAL_ID_TAKEN"])
      })
    )

    it.effect("of one grant at the same time are written once", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { consumerId, distributionId } = yield* aGrant
        const answers = yield* Effect.forEach(
          Array.from({ length: 12 }, (_, index) => `${consumerId}-${index}`),
          (externalId) => call("POST", "/orders", { consumerId, distributionId, externalId }),
          { concurrency: "unbounded" }
        )
        const created = answers.filter(({ status }) => status === 201)
        assert.lengthOf(created, 1)
        for (const { status, body } of answers) if (status !== 201) assert.strictEqual(body.code, "GRANT_HAS_ORDER")
        assert.lengthOf(yield* ordersOf(consumerId), 1)
      })
    )

    it.effect("of a grant may follow one that was cancelled", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { consumerId, distributionId } = yield* aGrant
        const first = yield* anOrder({ consumerId, distributionId })
        yield* call("PUT", `/orders/${first.id}`, { status: "CANCELLED" })
        yield* anOrder({ consumerId, distributionId })
        const third = yield* call("POST", "/orders", { consumerId, distributionId })
        assert.deepStrictEqual([third.status, third.body.code], [409, "GRANT_HAS_ORDER"])
      })
    )

    it.effect("follow a redemption by another name, and redeem a grant with their externalId", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const redeemed = yield* aGrant
        const { queue, consumerId, distributionId } = redeemed
        yield* engine.send(queue, { _tag: "Complete", consumerId, redemptionId: "cart", by: "admin" })
        yield* anOrder({ consumerId, distributionId, externalId: `order-${consumerId}` })
        const ordered = yield* aGrant
        const externalId = `order-${ordered.consumerId}`
        yield* anOrder({ consumerId: ordered.consumerId, distributionId: ordered.distributionId, externalId })
        const complete = (redemptionId: string) =>
          Effect.flip(
            engine.send(ordered.queue, { _tag: "Complete", consumerId: ordered.consumerId, redemptionId, by: "admin" })
          )
        assert.strictEqual((yield* complete(externalId))._tag, "AlreadyCompleted")
        assert.strictEqual((yield* complete("cart"))._tag, "AlreadyRedeemed")
      })
    )

    it.effect("are written on a repeat after a crash that completed the grant and wrote no order", () =>
      Effect.gen(function* () {
        const { queue, consumerId, distributionId } = yield* aGrant
        const engine = yield* Engine
        yield* engine.send(queue, { _tag: "Complete", consumerId, by: "admin" })
        assert.deepStrictEqual(yield* ordersOf(consumerId), [])
        const order = yield* anOrder({ consumerId, distributionId })
        assert.deepStrictEqual(
          (yield* ordersOf(consumerId)).map(({ id }) => id),
          [order.id]
        )
      })
    )

    it.effect("are refused and not written if the consumer holds no grant", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { distributionId, queue } = yield* aGrant
        const engine = yield* Engine
        const [absent, waiting] = [yield* consumerOf(brand), yield* consumerOf(brand)]
        yield* engine.send(queue, { _tag: "Enter", consumerId: waiting, isGuest: false, loyaltyScore: 0 })
        for (const consumerId of [absent, waiting]) {
          const refused = yield* call("POST", "/orders", { consumerId, distributionId })
          assert.deepStrictEqual([refused.status, refused.body.code], [409, "INVALID_STATUS"])
          assert.deepStrictEqual(yield* ordersOf(consumerId), [])
        }
        const cancelled = yield* anOrder({ consumerId: absent, distributionId, status: "CANCELLED" })
        assert.strictEqual(cancelled.cancelledAt, cancelled.createdAt)
      })
    )

    it.effect("complete grants of the other kinds of mechanism, but none of a waitlist without an offer", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { tenant } = brand
        const engine = yield* Engine
        const { id: sequenceId } = yield* aSequence()
        const consumerId = yield* consumerOf(brand)
        const made = (group: string, body: object) =>
          Effect.map(
            call("POST", `/${group}`, { sequenceId, name: group, ...body }),
            (answer) => answer.body.id as string
          )
        const dutch = { auctionType: "dutch", startPrice: "9", floorPrice: "9", priceDropAmount: "1" }
        const startTime = nextMonday()
        const slots = {
          slotDurationMinutes: 30,
          slotsFrom: textOf(startTime),
          slotsUntil: textOf(startTime + 86_400_000)
        }
        const release = yield* made("timed-releases", {})
        const auction = yield* made("auctions", { ...dutch, priceDropIntervalSeconds: 60, settleAt: soon(3600) })
        const appointment = yield* made("appointments", slots)
        const unbooked = yield* made("appointments", slots)
        const waitlist = yield* made("waitlists", {})
        const draw = yield* made("draws", { drawAt: soon(4), winnerCount: 1 })
        const who = { consumerId, isGuest: false }
        yield* engine.send({ kind: "draw", id: draw, tenant }, { _tag: "Enter", ...who, loyaltyScore: 0 })
        yield* engine.send({ kind: "timed_release", id: release, tenant }, { _tag: "Enter", ...who })
        yield* engine.send({ kind: "auction", id: auction, tenant }, { _tag: "Bid", consumerId })
        const booking = { _tag: "Book", consumerId, startTime, locationId: undefined } as const
        yield* engine.send({ kind: "appointment", id: appointment, tenant }, booking)
        const drawn = engine.view({ kind: "draw", id: draw, tenant }, consumerId)
        yield* eventually(drawn, (view) => view.status === "WON", "2 minutes")
        const statusIn = (kind: OrderableKind, id: string) =>
          Effect.map(engine.view<OrderableKind>({ kind, id, tenant }, consumerId), (view) => view.status)
        for (const [kind, id] of [
          ["draw", draw],
          ["auction", auction],
          ["timed_release", release],
          ["appointment", appointment]
        ] as const) {
          assert.notStrictEqual(yield* statusIn(kind, id), "COMPLETED")
          const order = yield* anOrder({ consumerId, distributionId: id })
          assert.deepInclude(order, { distributionType: kind, sequenceId })
          assert.strictEqual(yield* statusIn(kind, id), "COMPLETED")
        }
        for (const distributionId of [waitlist, unbooked]) {
          const absent = yield* call("POST", "/orders", { consumerId, distributionId })
          assert.deepStrictEqual([absent.status, absent.body.code], [409, "INVALID_STATUS"])
        }
      })
    )

    it.effect("do not complete the grant if the database refuses them", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const { consumerId, distributionId, status } = yield* aGrant
        yield* sql`alter table orders add constraint broken check (external_id <> 'breaks')`
        const failed = yield* call("POST", "/orders", { consumerId, distributionId, externalId: "breaks" })
        yield* sql`alter table orders drop constraint broken`
        assert.strictEqual(failed.status, 500)
        assert.strictEqual(yield* status, "GRANTED")
        assert.deepStrictEqual(yield* ordersOf(consumerId), [])
        yield* anOrder({ consumerId, distributionId, externalId: "breaks" })
        assert.strictEqual(yield* status, "COMPLETED")
      })
    )

    it.effect("are neither written nor counted if the database fails after the grant was completed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const { consumerId, distributionId, status } = yield* aGrant
        yield* sql`
          create function break_commit() returns trigger language plpgsql as $$
          begin raise exception 'no' using errcode = 'check_violation'; end $$`
        yield* sql`
          create constraint trigger broken after insert on orders deferrable initially deferred
          for each row when (new.external_id = 'breaks late') execute function break_commit()`
        const failed = yield* call("POST", "/orders", { consumerId, distributionId, externalId: "breaks late" })
        yield* sql`drop trigger broken on orders`
        assert.strictEqual(failed.status, 500)
        assert.strictEqual(yield* status, "COMPLETED")
        assert.deepStrictEqual(yield* ordersOf(consumerId), [])
        const repeated = yield* anOrder({ consumerId, distributionId, externalId: "breaks late" })
        assert.deepInclude(repeated, { consumerId, distributionId })
        const [counted] = yield* sql<{
          order_count: number
        }>`select order_count from consumers where id = ${consumerId}`
        assert.strictEqual(counted!.order_count, 1)
      })
    )
  })
})
