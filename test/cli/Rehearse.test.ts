/** `usher rehearse` against a real server on loopback. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { line, minutesAfter, raffle } from "../support/coatDrop.ts"
import * as Queue from "../support/queueOnServer.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization, serving } from "./servingProcess.ts"
import * as Usher from "./usherProcess.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "usher-rehearse-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const size = { option: "Size", value: "M" }

/** A queue of 20 units, a raffle, and an auction in one drop, for members. */
const drop = (audienceId: string) => ({
  name: "The coat",
  timeZone: "UTC",
  currencyCode: "EUR",
  closeAt: minutesAfter(6 * 60),
  newProducts: [
    {
      name: "Coat",
      variants: [{ sku: "coat-m", price: "120", inventoryQuantity: 40, inventoryPolicy: "deny", options: [size] }]
    }
  ],
  sequences: [
    {
      name: "Members",
      audienceId,
      queues: [{ ...line(20), lobbyOpenAt: minutesAfter(-30) }],
      draws: [raffle(3)],
      auctions: [
        {
          name: "Number one",
          openAt: minutesAfter(0),
          closeAt: minutesAfter(90),
          settleAt: minutesAfter(100),
          startPrice: "10",
          quantity: 1,
          currencyCode: "EUR",
          admissionExpirationSeconds: 3600
        }
      ]
    }
  ]
})

/** Ten units of one stock for a raffle, a queue, and a waitlist that offers what falls back. */
const createStockDrop = Effect.fnUntraced(function* (ask: (method: string, path: string, body?: object) => Asked) {
  const product = yield* ask("POST", "/products", {
    name: "Shoe",
    variants: [{ sku: "shoe", price: "120", inventoryQuantity: 10, inventoryPolicy: "deny" }]
  })
  const { body: stock } = yield* ask("POST", "/stocks", { name: "Pairs", variantIds: [product.body.variants[0].id] })
  const shared = { stockId: stock.id, admissionExpirationSeconds: 300 }
  const { body: made } = yield* ask("POST", "/experiences", {
    name: "One stock",
    closeAt: minutesAfter(6 * 60),
    timeZone: "UTC",
    products: [{ productId: product.body.id }],
    sequences: [
      {
        name: "Everybody",
        draws: [
          {
            ...shared,
            name: "The raffle",
            openAt: minutesAfter(0),
            closeAt: minutesAfter(60),
            drawAt: minutesAfter(60),
            winnerCount: 4
          }
        ],
        queues: [
          { ...shared, name: "The line", openAt: minutesAfter(90), admitRate: 60, recycleExpiredAdmissions: true }
        ],
        waitlist: { ...shared, name: "What falls back", openAt: minutesAfter(0), offers: true }
      }
    ]
  })
  const { draws, queues, waitlist } = made.sequences[0]
  const takers = [
    { distributionId: draws[0].id, units: 4 },
    { distributionId: queues[0].id },
    { distributionId: waitlist.id }
  ]
  yield* ask("PUT", `/stocks/${stock.id}`, { takers })
  return made.id as string
})

type Asked = Effect.Effect<{ readonly status: number; readonly body: any }>

const aWorld = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const server = yield* serving({ DATABASE_URL: url })
  const keys = yield* organization({ DATABASE_URL: url })
  const path = yield* folder
  const call = (key: string) => (method: string, address: string, body?: object) =>
    Effect.promise(() =>
      Queue.send(method, `${server.adminUrl}/api${address}`, { authorization: `Bearer ${key}` }, body)
    )
  const live = call(keys.secretKey)
  const audience = (yield* live("POST", "/audiences", { name: "Members", type: "STATIC" })).body
  const { id } = (yield* live("POST", "/experiences", drop(audience.id))).body
  const rehearse = (...more: ReadonlyArray<string>) => rehearseDrop(id, ...more)
  const rehearseDrop = (drop: string, ...more: ReadonlyArray<string>) =>
    Usher.run(["rehearse", drop, "--url", server.consumerUrl, "--admin-url", server.adminUrl, ...more], {
      LIVE_SECRET_KEY: keys.secretKey,
      SECRET_KEY: keys.testSecretKey
    })
  const shop = (method: string, address: string, consumerId: string, body: object = {}) =>
    Effect.promise(() =>
      Queue.send(
        method,
        `${server.consumerUrl}/api${address}`,
        { authorization: `Bearer ${keys.secretKey}`, "x-consumer-id": consumerId },
        body
      )
    )
  return {
    id,
    rehearse,
    rehearseDrop,
    shop,
    live,
    test: call(keys.testSecretKey),
    file: (name: string) => join(path, name)
  }
})

describe("usher rehearse", () => {
  it.live("plays a crowd against a copy in test mode, and equal seeds give equal journals", () =>
    Effect.gen(function* () {
      const { rehearse, test, live, file } = yield* aWorld
      const journals = (seed: string) =>
        Effect.gen(function* () {
          const run = yield* rehearse("--people", "60", "--seed", seed, "--json", "--report", file("report.html"))
          assert.strictEqual(run.code, 0, run.stdout + run.stderr)
          const report = JSON.parse(run.stdout)
          const page = readFileSync(file("report.html"), "utf8")
          assert.include(page, "It was simulated in test mode")
          const histories = yield* Effect.forEach(report.mechanisms as ReadonlyArray<{ id: string }>, ({ id }) =>
            Effect.map(test("GET", `/distributions/${id}/history?first=100`), ({ body }) => body.data)
          )
          yield* test("DELETE", "/test-clock")
          return { report, histories }
        })
      const first = yield* journals("7")
      assert.strictEqual(first.report.unserved, 0)
      assert.notInclude(JSON.stringify(first.report.findings), "NO_PRODUCT")
      const [line, raffle, auction] = first.report.mechanisms
      assert.deepInclude(line, { name: "The line", units: 20 })
      assert.isAbove(line.people, 10)
      assert.isAbove(line.granted, 10)
      assert.isAbove(line.used, 5)
      assert.strictEqual(raffle.granted, 3)
      assert.strictEqual(auction.granted, 1)
      const again = yield* journals("7")
      assert.deepStrictEqual(again.histories, first.histories)
      const other = yield* journals("8")
      assert.notDeepEqual(other.histories, first.histories)
      const { body } = yield* live("GET", "/distributions")
      for (const { live } of body.data) assert.isTrue(live === null || live.lastSequence <= 2)
    })
  )

  it.live("copies what the drop names, moved to another time, and not twice", () =>
    Effect.gen(function* () {
      const { rehearse, test } = yield* aWorld
      for (const _ of [1, 2]) {
        const run = yield* rehearse("--people", "5", "--json", "--from", "2034-01-02T10:00:00Z")
        assert.strictEqual(run.code, 0, run.stdout + run.stderr)
        const { copyId, from } = JSON.parse(run.stdout)
        assert.strictEqual(from, "2034-01-02T10:00:00.000Z")
        const { body } = yield* test("GET", `/experiences/${copyId}`)
        // The clock begins an hour before the lobby opens, which is half an hour before the line.
        assert.strictEqual(body.sequences[0].queues[0].openAt, "2034-01-02T11:30:00.000Z")
        assert.strictEqual(body.closeAt, "2034-01-02T17:30:00.000Z")
        const [{ product }] = body.products
        assert.strictEqual(product.name, "Coat")
        assert.deepInclude(product.variants[0], { sku: "coat-m", price: "120", inventoryQuantity: 40 })
        assert.strictEqual(product.variants[0].options[0].value, "M")
        const members = yield* test("GET", `/audiences/${body.sequences[0].audienceId}/members?first=10`)
        assert.lengthOf(members.body.data, 5)
        yield* test("DELETE", "/test-clock")
      }
      const { body } = yield* test("GET", "/products?first=10")
      assert.lengthOf(body.data, 1)
    })
  )

  it.live("moves the units of a stock in the drop's time, each to one person, and equally in equal rehearsals", () =>
    Effect.gen(function* () {
      const { rehearseDrop, live, test } = yield* aWorld
      const drop = yield* createStockDrop(live)
      const play = Effect.gen(function* () {
        const run = yield* rehearseDrop(drop, "--people", "60", "--seed", "3", "--json")
        assert.strictEqual(run.code, 0, run.stdout + run.stderr)
        const { mechanisms, unserved } = JSON.parse(run.stdout)
        assert.strictEqual(unserved, 0)
        const histories = yield* Effect.forEach(mechanisms as ReadonlyArray<{ id: string }>, ({ id }) =>
          Effect.map(test("GET", `/distributions/${id}/history?first=100`), ({ body }) => body.data)
        )
        const [{ id }] = (yield* test("GET", "/stocks")).body.data
        const { body: stock } = yield* test("GET", `/stocks/${id}`)
        yield* test("DELETE", "/test-clock")
        // Each rehearsal makes a new copy of the stock.
        return { mechanisms, histories: JSON.stringify(histories).replaceAll(id, "stock"), stock }
      })
      const first = yield* play
      const { onHand, free, underway, sold, allocations } = first.stock
      const allocated = allocations.reduce((sum: number, one: { allocated: number }) => sum + one.allocated, 0)
      assert.deepStrictEqual([onHand, free + underway + sold + allocated], [10, 10])
      const used = first.mechanisms.reduce((sum: number, one: { used: number }) => sum + one.used, 0)
      assert.strictEqual(sold, used)
      assert.isAbove(used, 7)
      assert.strictEqual((yield* play).histories, first.histories)
    })
  )

  it.live("plays people like those of a former drop, and says so", () =>
    Effect.gen(function* () {
      const { rehearse, live, shop, file } = yield* aWorld
      const line = { name: "Last year", standby: true, admitRate: 60_000, admissionExpirationSeconds: 600 }
      const former = { name: "Former", sequences: [{ name: "All", queues: [line] }] }
      const [{ queues }] = (yield* live("POST", "/experiences", former)).body.sequences
      const consumers = Array.from({ length: 25 }, (_, number) => ({ externalId: `last-year-${number}` }))
      for (const { id } of (yield* live("POST", "/consumers/batch", { consumers })).body.data) {
        assert.strictEqual((yield* shop("POST", `/queues/${queues[0].id}/enter`, id)).status, 200)
        const used = yield* shop("POST", `/queues/${queues[0].id}/complete`, id, { consumerId: id })
        assert.strictEqual(used.status, 200)
      }
      yield* live("POST", `/queues/${queues[0].id}/end`)
      writeFileSync(file("crowd.json"), JSON.stringify({ people: 5, noShow: 0.4 }))
      const run = yield* rehearse("--crowd", file("crowd.json"), "--json", "--report", file("report.html"))
      assert.strictEqual(run.code, 0, run.stdout + run.stderr)
      const { former: named, crowd } = JSON.parse(run.stdout)
      assert.deepStrictEqual(named, { name: "Last year", people: 25, figures: ["checkout"] })
      assert.deepInclude(crowd, { noShow: 0.4, patience: { median: 720_000, spread: 2 } })
      assert.strictEqual(crowd.checkout.median, 10_000)
      assert.include(readFileSync(file("report.html"), "utf8"), "What 25 people did in “Last year”.")
    })
  )

  it.live("refuses a wrong crowd, an unknown drop and a clock in use, in words", () =>
    Effect.gen(function* () {
      const { rehearse, test, file } = yield* aWorld
      writeFileSync(file("crowd.json"), JSON.stringify({ noShow: 3 }))
      const wrong = yield* rehearse("--crowd", file("crowd.json"))
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.stderr, "noShow")
      yield* test("PUT", "/test-clock", { frozenAt: minutesAfter(0) })
      const used = yield* rehearse("--people", "3")
      assert.strictEqual(used.code, 1)
      assert.include(used.stderr, "has a test clock already")
    })
  )
})
