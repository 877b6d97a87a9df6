/** Stocks in backups, archives, verifications and replays: one that sells, and one that is archived. */
import type { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { join } from "node:path"
import { sellFromStock } from "../../e2e/load/SellFromStock.ts"
import { Apis, type Guest } from "../../e2e/support/Apis.ts"
import type { Keys } from "../../e2e/support/ServerUnderTest.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { organization, serving } from "../servingProcess.ts"
import * as UsherInProcess from "../usherInProcess.ts"
import * as Usher from "../usherProcess.ts"
import { clientOf, databaseAndFolder } from "./archiveFixture.ts"

/** A stock of two units: one is sold, a guest holds the other one, and another guest waits. */
interface Sale {
  readonly stockId: string
  readonly queueId: string
  readonly orderId: string
  readonly holder: Guest
  readonly waiting: Guest
}

class World extends Context.Service<
  World,
  {
    readonly url: string
    readonly sql: PgClient.PgClient
    readonly keys: Keys
    readonly folder: string
    readonly sale: Sale
    readonly past: Awaited<ReturnType<typeof sellFromStock>>
    /** The stock that sells, as the Admin API showed it last. */
    readonly shown: any
  }
>()("usher/test/cli/archive/Stocks/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.gen(function* () {
      const { url, sql, folder } = yield* databaseAndFolder
      const keys = (yield* organization({ DATABASE_URL: url })) as unknown as Keys
      const played = yield* withServer(url, keys, (apis) =>
        Effect.gen(function* () {
          const past = yield* Effect.promise(() => sellFromStock(apis))
          const sale = yield* Effect.promise(() => aSale(apis))
          const shown = yield* read(apis, sale.stockId, ({ sold, underway }) => sold === 1 && underway === 0)
          return { past, sale, shown }
        })
      )
      // An order that was being written when the process ended.
      yield* sql`
        insert into stock_messages (id, organization_id, mode, stock_id, units, due_at)
        select 'order/1', organization_id, mode, id, null, '2036-01-01' from mechanisms where id = ${played.sale.stockId}`
      return { url, sql, keys, folder, ...played }
    })
  ).pipe(Layer.orDie)
}

/** Runs with a server on the database, which has ended afterwards. */
const withServer = <A, E, R>(url: string, keys: Keys, run: (apis: Apis) => Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const server = yield* serving({ DATABASE_URL: url })
      const apis = yield* Effect.acquireRelease(
        Effect.sync(() => new Apis(server, keys)),
        (apis) => Effect.sync(() => apis[Symbol.dispose]())
      )
      const result = yield* run(apis)
      server.child.kill("SIGTERM")
      yield* Usher.end(server)
      return result
    })
  )

async function aSale(apis: Apis): Promise<Sale> {
  const productId = await apis.create("/products", { name: "Boots" })
  const variantId = await apis.create("/variants", { productId, inventoryPolicy: "deny", inventoryQuantity: 2 })
  const stockId = await apis.create("/stocks", { name: "Pairs", variantIds: [variantId] })
  const [queueId] = await apis.createQueues(1, { admitRate: 60_000, admissionExpirationSeconds: 3_600, stockId })
  const [buyer, holder, waiting] = [await apis.guest(), await apis.guest(), await apis.guest()]
  for (const guest of [buyer, holder, waiting]) await apis.enter(queueId!, guest)
  for (const guest of [buyer, holder]) await untilGranted(apis, queueId!, guest)
  const items = [{ productVariantId: variantId, quantity: 1, unitPrice: "9" }]
  const orderId = await apis.create("/orders", { consumerId: buyer.consumerId, distributionId: queueId, items })
  return { stockId, queueId: queueId!, orderId, holder, waiting }
}

const untilGranted = async (apis: Apis, queueId: string, guest: Guest): Promise<void> => {
  while ((await apis.status(queueId, guest)).body.status !== "GRANTED") await new Promise((go) => setTimeout(go, 50))
}

/** Reads a stock until it is as expected. */
const read = (apis: Apis, stockId: string, fits: (stock: any) => boolean) =>
  Effect.promise(() => apis.admin.send({ method: "GET", path: `/api/stocks/${stockId}`, headers: apis.asShop })).pipe(
    Effect.map(({ body }): any => body),
    Effect.repeat({ until: fits, schedule: Schedule.spaced("50 millis") }),
    Effect.timeout("2 minutes")
  )

const usher = (url: string, ...args: ReadonlyArray<string>) => UsherInProcess.run(args, { DATABASE_URL: url })

const rowsOf = (sql: PgClient.PgClient) =>
  Effect.forEach(
    ["stock_variants", "stock_messages"],
    (table) => sql<{ readonly row: string }>`select to_jsonb(t)::text as row from ${sql(table)} t order by 1`
  )

layer(World.layer, { excludeTestServices: true, timeout: "3 minutes" })("a stock", (it) => {
  it.effect("is in a backup with its journal and messages, is verified, and sells on where it was restored", () =>
    Effect.gen(function* () {
      const { url, sql, keys, folder, sale, shown } = yield* World
      const file = join(folder, "usher.tar")
      assert.strictEqual((yield* usher(url, "backup", file)).code, 0)
      const { url: copy } = yield* TestDatabase.emptyDatabase
      assert.strictEqual((yield* usher(copy, "restore", file)).code, 0)
      const stored = yield* rowsOf(sql)
      assert.deepStrictEqual(
        stored.map(({ length }) => length),
        [1, 1]
      )
      assert.deepStrictEqual(yield* rowsOf(yield* clientOf(copy)), stored)

      // Only what consumers hold is extended. A stock has no closing, and no grants.
      const resumed = yield* usher(copy, "resume", "--extend", "30m")
      assert.match(resumed.stdout, /^Extended \d+ mechanisms and 1 grants by 1800 seconds\./m)
      const { code, stdout } = yield* usher(copy, "verify-journal", "--json")
      assert.deepStrictEqual([code, JSON.parse(stdout).shown], [0, []])
      const verified = yield* usher(copy, "verify-journal", "--json", "--mechanism", sale.stockId)
      assert.deepInclude(JSON.parse(verified.stdout), { mechanisms: 1, differences: 0, places: 0 })

      yield* withServer(copy, keys, (apis) =>
        Effect.gen(function* () {
          const restored = yield* read(apis, sale.stockId, () => true)
          assert.deepStrictEqual(restored, shown)
          yield* Effect.promise(() => apis.leave(sale.queueId, sale.holder))
          yield* Effect.promise(() => untilGranted(apis, sale.queueId, sale.waiting))
          yield* Effect.promise(() => apis.change(`/orders/${sale.orderId}`, { status: "CANCELLED" }))
          const after = yield* read(apis, sale.stockId, ({ sold, free }) => sold === 0 && free === 1)
          assert.deepInclude(after, { onHand: 2, underway: 0 })
        })
      )
    })
  )

  it.effect("goes to an archive of its month with its queue, comes back, and gives a later unit to its variant", () =>
    Effect.gen(function* () {
      const { url, sql, keys, folder, past } = yield* World
      const ids = [past.stockId, past.queueId]
      yield* sql`update mechanisms set created_at = '2024-03-01T00:00:00Z' where id = any(${ids}::uuid[])`
      const archived = yield* usher(url, "archive", "--before", "2024-04", "--to", folder)
      assert.match(archived.stdout, /removed 2 mechanisms/, archived.stderr)
      const quantity = Effect.map(
        sql<{ readonly units: number }>`
          select (record ->> 'inventoryQuantity')::int as units from product_variants where id = ${past.variantId}`,
        ([row]) => row!.units
      )
      const before = yield* quantity
      yield* withServer(url, keys, (apis) =>
        Effect.gen(function* () {
          // A change that is no cancellation returns nothing.
          yield* Effect.promise(() => apis.change(`/orders/${past.orderId}`, { status: "PAID" }))
          const held = sql`select stock_units from orders where id = ${past.orderId}`
          assert.deepStrictEqual(yield* held, [{ stock_units: { [past.stockId]: 1 } }])
          yield* Effect.promise(() => apis.change(`/orders/${past.orderId}`, { status: "CANCELLED" }))
          yield* Effect.repeat(sql`select 1 from stock_messages where stock_id = ${past.stockId}`, {
            until: (rows) => rows.length === 0,
            schedule: Schedule.spaced("50 millis")
          })
        })
      )
      assert.strictEqual(yield* quantity, before + 1)
      const file = join(folder, "usher-2024-03.tar")
      assert.match(
        (yield* usher(url, "archive", "restore", file)).stdout,
        /Restored 2024-03: 2 mechanisms.*No difference/s
      )
    })
  )

  it.effect("is not replayed, and a queue that sold its units is", () =>
    Effect.gen(function* () {
      const { url, sale } = yield* World
      const refused = yield* usher(url, "replay", sale.stockId)
      assert.match(refused.stderr, /is a stock\. Only mechanisms can be replayed/)
      const { code, stdout, stderr } = yield* usher(url, "replay", sale.queueId, "--json")
      assert.strictEqual(code, 0, stderr)
      assert.notProperty(JSON.parse(stdout), "difference")
    })
  )
})
