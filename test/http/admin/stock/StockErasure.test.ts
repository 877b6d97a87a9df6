/** Consumers with units of a stock that are exported and erased. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin } from "../adminFixture.ts"
import { anOrder, consumerOf } from "../consumer/orderFixture.ts"
import { layer as stocks, sellingFrom, stockOf, until } from "./stockFixture.ts"

describe("A consumer with units of a stock", () => {
  layer(stocks, { excludeTestServices: true })((it) => {
    it.effect(
      "is exported with its offer and its order, and erased: what it held goes on, what it bought stays sold",
      () =>
        Effect.gen(function* () {
          const { call, brand } = yield* Admin
          const engine = yield* Engine
          const sql = yield* SqlClient.SqlClient
          const stock = yield* stockOf(1)
          const id = yield* sellingFrom(stock.id, "/waitlists", { offers: true })
          const ref = { kind: "waitlist", id, tenant: brand.tenant } as const
          const [ada, bob] = [yield* consumerOf(brand), yield* consumerOf(brand)]
          const status = (consumerId: string) => Effect.map(engine.view(ref, consumerId), (view) => view.status)
          for (const consumerId of [ada, bob]) yield* engine.send(ref, { _tag: "Enter", consumerId })
          yield* until(status(ada), (now) => now === "OFFERED")
          const { body: exported } = yield* call("GET", `/consumers/${ada}/export`)
          assert.deepInclude(exported.places[0], {
            distributionId: id,
            distributionType: "waitlist",
            status: "OFFERED"
          })

          assert.strictEqual((yield* call("DELETE", `/consumers/${ada}?erase=true`)).status, 200)
          yield* until(status(bob), (now) => now === "OFFERED")
          const order = yield* anOrder({ consumerId: bob, distributionId: id, items: stock.items(1) })
          const { body: bought } = yield* call("GET", `/consumers/${bob}/export`)
          assert.deepStrictEqual(
            bought.orders.map((one: { readonly id: string }) => one.id),
            [order.id]
          )
          yield* until(stock.read, ({ sold }) => sold === 1)
          assert.strictEqual((yield* call("DELETE", `/consumers/${bob}?erase=true`)).status, 200)
          assert.deepInclude(yield* stock.read, { sold: 1, free: 0 })
          // The stock's journal and its messages name orders, and no person.
          const named = yield* sql`
          select 1 from journal where mechanism_id = ${stock.id} and (consumer_id is not null or data::text like ${`%${bob}%`})
          union all select 1 from stock_messages where id like ${`%${bob}%`}`
          assert.deepStrictEqual(named, [])
        })
    )
  })
})
