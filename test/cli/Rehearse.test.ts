/** `usher rehearse` against a real server on loopback. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Queue from "../support/queueOnServer.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization, serving } from "./servingProcess.ts"
import * as Usher from "./usherProcess.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "usher-rehearse-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const openAt = Date.parse("2033-06-01T16:00:00Z")
const text = (minutes: number) => new Date(openAt + minutes * 60_000).toISOString()

const size = { option: "Size", value: "M" }

/** A queue of 20 units, a raffle, and an auction in one drop, for members. */
const drop = (audienceId: string) => ({
  name: "The coat",
  timeZone: "UTC",
  currencyCode: "EUR",
  closeAt: text(6 * 60),
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
      queues: [
        {
          name: "The line",
          lobbyOpenAt: text(-30),
          openAt: text(0),
          admitRate: 60,
          maxAdmissions: 20,
          recycleExpiredAdmissions: true,
          admissionExpirationSeconds: 300
        }
      ],
      draws: [
        {
          name: "The raffle",
          openAt: text(0),
          closeAt: text(60),
          drawAt: text(120),
          winnerCount: 3,
          admissionExpirationSeconds: 3600
        }
      ],
      auctions: [
        {
          name: "Number one",
          openAt: text(0),
          closeAt: text(90),
          settleAt: text(100),
          startPrice: "10",
          quantity: 1,
          currencyCode: "EUR",
          admissionExpirationSeconds: 3600
        }
      ]
    }
  ]
})

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
  const rehearse = (...more: ReadonlyArray<string>) =>
    Usher.run(["rehearse", id, "--url", server.consumerUrl, "--admin-url", server.adminUrl, ...more], {
      LIVE_SECRET_KEY: keys.secretKey,
      SECRET_KEY: keys.testSecretKey
    })
  return { id, rehearse, live, test: call(keys.testSecretKey), file: (name: string) => join(path, name) }
})

describe("usher rehearse", () => {
  it.live(
    "plays a crowd against a copy in test mode, and equal seeds give equal journals",
    () =>
      Effect.gen(function* () {
        const { rehearse, test, live, file } = yield* aWorld
        const journals = (seed: string) =>
          Effect.gen(function* () {
            const run = yield* rehearse("--people", "60", "--seed", seed, "--json", "--report", file("report.html"))
            assert.strictEqual(run.code, 0, run.stdout + run.stderr)
            const report = JSON.parse(run.stdout)
            const page = readFileSync(file("report.html"), "utf8")
            assert.include(page, "Everybody who should get something got it.")
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
      }),
    600_000
  )

  it.live(
    "copies what the drop names, moved to another time, and not twice",
    () =>
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
      }),
    600_000
  )

  it.live(
    "refuses a wrong crowd, an unknown drop and a clock in use, in words",
    () =>
      Effect.gen(function* () {
        const { rehearse, test, file } = yield* aWorld
        writeFileSync(file("crowd.json"), JSON.stringify({ noShow: 3 }))
        const wrong = yield* rehearse("--crowd", file("crowd.json"))
        assert.strictEqual(wrong.code, 1)
        assert.include(wrong.stderr, "noShow")
        yield* test("PUT", "/test-clock", { frozenAt: text(0) })
        const used = yield* rehearse("--people", "3")
        assert.strictEqual(used.code, 1)
        assert.include(used.stderr, "has a test clock already")
      }),
    600_000
  )
})
