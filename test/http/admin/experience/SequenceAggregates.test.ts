/** Sequences that are created together with their mechanisms, in one body. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { aProduct, aVariant } from "../../../store/catalogue/catalogueFixture.ts"
import { Admin, anExperience, aQueue, enter, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import {
  assertLivingMechanisms,
  inDays,
  mechanismsOfEachKind,
  senselessIssues,
  senselessMechanisms
} from "./aggregateFixture.ts"

/** A body with a mechanism of every kind, and two of one kind. */
const everything = (experienceId: string) => ({
  experienceId,
  name: "First",
  priority: 5,
  ...mechanismsOfEachKind()
})

const countRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`
    select (select count(*) from sequences) as sequences, (select count(*) from mechanisms) as mechanisms,
      (select count(*) from journal) as journal`
  return row
})

describe("Whole sequences on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("contain their mechanisms, each live and as its own operations return it", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience({ timeZone: "Europe/Rome", currencyCode: "EUR" })
        const created = yield* call("POST", "/sequences", everything(experienceId))
        assert.strictEqual(created.status, 201, created.text)
        const { id, queues, waitlist } = created.body
        assert.deepInclude(created.body, { experienceId, name: "First", priority: 5 })
        assert.deepStrictEqual((yield* call("GET", `/sequences/${id}`)).body, created.body)
        assert.deepStrictEqual((yield* call("GET", `/experiences/${experienceId}`)).body.sequences, [created.body])
        const held = Object.keys(mechanismsOfEachKind())
        const alone = Object.fromEntries(Object.entries(created.body).filter(([field]) => !held.includes(field)))
        const { data: listed } = (yield* call("GET", `/sequences?experienceId=${experienceId}`)).body
        assert.deepStrictEqual(listed, [alone], "a list shows it without its mechanisms")
        yield* assertLivingMechanisms(created.body, { experienceId, sequenceId: id })
        yield* enter(queues[1].id, 3)
        assert.strictEqual((yield* call("GET", `/distributions/${queues[1].id}`)).body.live.counts.QUEUED, 3)
        // The waitlist is notified when the first of the others opens: the second queue, at once.
        const { data } = (yield* call("GET", `/distributions/${waitlist.id}/history`)).body
        assert.isTrue(
          data.some((event: { data: object }) => "noticeAt" in event.data),
          JSON.stringify(data)
        )
      })
    )

    it.effect("include mechanisms that are added later, and omit those that are archived", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const { body } = yield* call("POST", "/sequences", everything(experienceId))
        const path = `/sequences/${body.id}`
        yield* aQueue({ sequenceId: body.id, name: "Three" })
        yield* call("DELETE", `/queues/${body.queues[0].id}`)
        yield* call("DELETE", `/waitlists/${body.waitlist.id}`)
        const { queues, waitlist } = (yield* call("GET", path)).body
        const names = queues.map(({ name }: { name: string }) => name)
        assert.deepStrictEqual([names, waitlist], [["Two", "Three"], null])
        // A record can be sent back unchanged. Mechanisms change only through their own operations.
        const echoed = yield* call("PUT", path, { ...body, name: "Renamed" })
        assert.strictEqual(echoed.status, 200, echoed.text)
        assert.strictEqual(echoed.body.name, "Renamed")
        assert.lengthOf(echoed.body.queues, 2)
        assert.lengthOf((yield* call("GET", path)).body.queues, 2)
      })
    )

    it.effect("accept null and empty lists for no mechanisms", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const fields = ["queues", "draws", "auctions", "appointments", "timedReleases"]
        for (const nothing of [null, []]) {
          const none = Object.fromEntries(fields.map((field) => [field, nothing]))
          const { status, body } = yield* call("POST", "/sequences", {
            experienceId,
            name: "S",
            ...none,
            waitlist: null
          })
          assert.strictEqual(status, 201)
          assert.deepStrictEqual([...fields.map((field) => body[field]), body.waitlist], [[], [], [], [], [], null])
        }
      })
    )

    it.effect("name every problem by its path, and store nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const before = yield* countRows
        const [early, late] = [inDays(1), inDays(2)]
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ queues: 5 }, ["queues: array"]],
          [{ queues: {} }, ["queues: array"]],
          [{ waitlist: [] }, ["waitlist: object"]],
          [
            {
              queues: [{ name: "Q" }],
              auctions: [{ name: "A" }],
              draws: [{ name: "D", drawAt: "soon", winnerCount: 0 }]
            },
            [
              "auctions.0.settleAt: string",
              "auctions.0.startPrice: amount",
              "draws.0.drawAt: date_time",
              "draws.0.winnerCount: min_value",
              "queues.0.admitRate: number"
            ]
          ],
          [{ waitlist: { name: "W", capacity: "many" } }, ["waitlist.capacity: number"]],
          // Contradictory settings of each kind are reported together.
          [
            {
              sequenceProducts: [{ productId: randomUUID(), weight: 0 }],
              ...senselessMechanisms(early, late)
            },
            [...senselessIssues, "sequenceProducts.0.productId: picklist", "sequenceProducts: min_value"].toSorted()
          ]
        ]
        for (const [mistake, expected] of mistakes) {
          const answer = yield* call("POST", "/sequences", { experienceId, name: "S", ...mistake })
          assert.deepStrictEqual(issuesOf(answer), expected, JSON.stringify(mistake))
        }
        // A reference to a missing record is a 404, and no mechanism is created.
        const queues = [{ name: "Q", admitRate: 1 }]
        for (const [named, error] of [
          [{ experienceId: randomUUID() }, "Experience not found"],
          [{ audienceId: randomUUID() }, "Audience not found"]
        ] as const) {
          const answer = yield* call("POST", "/sequences", { experienceId, name: "S", queues, ...named })
          assert.deepStrictEqual([answer.status, answer.body], [404, { error }])
        }
        assert.deepStrictEqual(yield* countRows, before)
      })
    )

    it.effect("have limited numbers of mechanisms, of each kind and in total", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const queues = (count: number) => Array.from({ length: count }, () => ({ name: "Q", admitRate: 0 }))
        const timedReleases = Array.from({ length: 100 }, () => ({ name: "R" }))
        const create = (body: object) => call("POST", "/sequences", { experienceId, name: "S", ...body })
        assert.deepStrictEqual(issuesOf(yield* create({ queues: queues(201) })), ["queues: max_length"])
        const refused = yield* create({ queues: queues(100), timedReleases, waitlist: { name: "W" } })
        assert.deepStrictEqual(issuesOf(refused), [": max_length"])
        const { status, body } = yield* create({ queues: queues(99), timedReleases, waitlist: { name: "W" } })
        assert.strictEqual(status, 201)
        assert.deepStrictEqual([body.queues.length, body.timedReleases.length], [99, 100])
      })
    )

    it.effect("restrict timed releases to the experience's variants, where it offers products", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const [product, another] = [yield* aProduct(brand.tenant), yield* aProduct(brand.tenant)]
        const [good, bad] = [yield* aVariant(brand.tenant, product), yield* aVariant(brand.tenant, another)]
        const { id: experienceId } = yield* anExperience({ products: [{ productId: product }] })
        const body = (...variantIds: ReadonlyArray<string>) => ({
          experienceId,
          name: "S",
          timedReleases: [{ name: "R" }, { name: "R", variantIds }]
        })
        const refused = yield* call("POST", "/sequences", body(good, bad))
        assert.deepStrictEqual(issuesOf(refused), ["timedReleases.1.variantIds.1: picklist"])
        const { timedReleases } = (yield* call("POST", "/sequences", body(good))).body
        assert.deepStrictEqual(timedReleases[1].variantIds, [good])
        // Without products, any variant can be selected.
        yield* call("PUT", `/experiences/${experienceId}`, { products: [] })
        assert.strictEqual((yield* call("POST", "/sequences", body(randomUUID()))).status, 201)
      })
    )

    it.effect("are created once, however often the request is repeated", () =>
      Effect.gen(function* () {
        const { url, brand, call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const body = JSON.stringify(everything(experienceId))
        const headers = {
          authorization: `Bearer ${brand.key}`,
          "content-type": "application/json",
          "idempotency-key": randomUUID()
        }
        const send = Effect.promise(() =>
          fetch(`${url}/api/sequences`, { method: "POST", headers, body }).then((answer) => answer.text())
        )
        const answers = yield* Effect.all([send, send, send], { concurrency: "unbounded" })
        assert.strictEqual(new Set(answers).size, 1)
        const { sequences } = (yield* call("GET", `/experiences/${experienceId}`)).body
        assert.lengthOf(sequences, 1)
        assert.lengthOf(sequences[0].queues, 2)
      })
    )
  })
})
