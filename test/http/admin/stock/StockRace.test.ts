/** Two mechanisms, orders, cancellations and staff that work on one variant at the same time, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin } from "../adminFixture.ts"
import { consumerOf } from "../consumer/orderFixture.ts"
import { layer as stocks, sellingFrom, stockOf, until } from "./stockFixture.ts"

const units = 20

describe("A stock under concurrent use", () => {
  layer(stocks, { excludeTestServices: true })((it) => {
    it.effect("sells no unit twice, and knows where each one is", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const sql = yield* SqlClient.SqlClient
        const stock = yield* stockOf(units)
        const release = yield* sellingFrom(stock.id, "/timed-releases", {})
        const queue = yield* sellingFrom(stock.id, "/queues", { admitRate: 60_000 })
        const kinds = { [release]: "timed_release", [queue]: "queue" } as const
        const takers = [
          { distributionId: queue, upTo: 6 },
          { distributionId: release, upTo: 6 }
        ]
        assert.strictEqual((yield* call("PUT", `/stocks/${stock.id}`, { takers })).status, 200)

        /** Enters, waits for a grant, and orders with it. */
        const buy = Effect.fnUntraced(function* (id: string) {
          const consumerId = yield* consumerOf(brand)
          const mechanism = { kind: kinds[id]!, id, tenant: brand.tenant }
          const entry = { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 } as const
          for (let attempt = 0; attempt < 40; attempt++) {
            yield* Effect.ignore(engine.send(mechanism, entry))
            const body = { consumerId, distributionId: id, items: stock.items(1) }
            const answer = yield* call("POST", "/orders", body)
            if (answer.status === 201) return answer.body.id as string
            yield* Effect.sleep(50)
          }
          return undefined
        })
        const orderWithout = Effect.fnUntraced(function* () {
          const answer = yield* call("POST", "/orders", { consumerId: yield* consumerOf(brand), items: stock.items(1) })
          return answer.status === 201 ? (answer.body.id as string) : undefined
        })
        const cancel = (id: string) => call("PUT", `/orders/${id}`, { status: "CANCELLED" })
        const buyers = Array.from({ length: 30 }, (_, n) => {
          const bought = n % 3 === 0 ? buy(release) : n % 3 === 1 ? buy(queue) : orderWithout()
          return Effect.tap(bought, (id) => (id !== undefined && n % 4 === 0 ? cancel(id) : Effect.void))
        })
        const staff = Effect.forEach([-3, 2, -1, 4], (by) =>
          Effect.andThen(Effect.sleep(100), call("POST", `/stocks/${stock.id}/adjust`, { by, reason: "COUNTED" }))
        )
        yield* Effect.all([Effect.all(buyers, { concurrency: "unbounded" }), staff], { concurrency: "unbounded" })
        yield* until(sql`select 1 from stock_messages where stock_id = ${stock.id}`, (rows) => rows.length === 0)
        const read = Effect.flatMap(
          sql<{ readonly count: number }>`
          select count(*)::int as count from orders where status <> 'CANCELLED' and organization_id = ${brand.tenant.organizationId}`,
          ([row]) => Effect.map(stock.read, (shown) => ({ shown, orders: row!.count }))
        )
        const { shown, orders } = yield* until(
          read,
          (both) => both.shown.sold === both.orders && both.shown.underway === 0
        )
        const allocated = shown.allocations.reduce(
          (all: number, one: { readonly allocated: number }) => all + one.allocated,
          0
        )
        assert.strictEqual(shown.onHand, shown.free + shown.underway + shown.sold + allocated)
        assert.isAtMost(orders, shown.onHand)
        assert.isAbove(orders, 10)
      })
    )
  })
})
