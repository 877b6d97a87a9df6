// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** Gates as records of the organization. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PgClient } from "@effect/sql-pg"
import { issuesOf } from "../adminFixture.ts"
import { aGate } from "../../support/gateFixture.ts"
import { layer as usherLayer, Usher } from "../../support/usherFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("A gate", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("is created with name, hosts and rules alone, and shows its key once", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const { id, key, rules, created, byBrand } = yield* aGate({ hosts: ["Shop.Example", "www.shop.example"] })
        assert.strictEqual(created.status, 201)
        assert.match(key, /^gk_live_[\w-]{32}$/)
        const { key: _, createdAt, createdBy, updatedAt, updatedBy, ...shown } = created.body
        assert.deepStrictEqual(shown, {
          id,
          organizationId: brand.organizationId,
          name: "Shop",
          hosts: ["shop.example", "www.shop.example"],
          rules,
          failMode: "closed",
          cookie: {},
          returnPath: "/.usher/return",
          keyDisplay: `${key.slice(0, 12)}…${key.slice(-4)}`,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        const read = yield* byBrand("GET", `/gates/${id}`)
        assert.notInclude(read.text, key)
        assert.deepStrictEqual({ ...read.body, key }, created.body)
      })
    )

    it.effect("keeps a hash of its key, and no word of it in the audit log", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const secret = "let-me-pass-4711"
        const rules = [{ when: { header: { name: "X-Monitor", value: secret } }, then: "pass" }]
        const { id, key, byBrand } = yield* aGate({ rules })
        yield* byBrand("PUT", `/gates/${id}`, { name: "Renamed" })
        const rotated = yield* byBrand("POST", `/gates/${id}/rotate-key`)
        yield* byBrand("DELETE", `/gates/${id}`)
        yield* byBrand("POST", `/gates/${id}/restore`)
        const log = yield* byBrand("GET", `/audit-log?subjectId=${id}`)
        assert.deepStrictEqual(log.body.data.map(({ type }: { readonly type: string }) => type).toSorted(), [
          "gate.archived",
          "gate.created",
          "gate.key_rotated",
          "gate.restored",
          "gate.updated"
        ])
        const rows = yield* sql<{ row: object }>`select to_jsonb(g) as row from gates g where id = ${id}`
        const stored = JSON.stringify(rows)
        for (const text of [key, rotated.body.key]) {
          assert.notInclude(log.text + stored, text)
          assert.notInclude(log.text + stored, text.slice(16, -4))
        }
        assert.notInclude(log.text, secret)
      })
    )

    it.effect("is changed, archived and restored", () =>
      Effect.gen(function* () {
        const { id, byBrand } = yield* aGate({ failMode: "open", cookie: { name: "pass" } })
        const changed = yield* byBrand("PUT", `/gates/${id}`, { failMode: null, hosts: ["a.example"] })
        assert.deepInclude(changed.body, { failMode: "closed", hosts: ["a.example"], cookie: { name: "pass" } })
        assert.deepInclude((yield* byBrand("DELETE", `/gates/${id}`)).body, { id, archived: true })
        assert.strictEqual((yield* byBrand("GET", `/gates/${id}`)).status, 404)
        assert.deepInclude((yield* byBrand("POST", `/gates/${id}/restore`)).body, { id, archived: false })
      })
    )

    it.effect("keeps a rule whose queue has been archived, and takes no unknown queue", () =>
      Effect.gen(function* () {
        const { stranger } = yield* Usher
        const { id, queueId, rules, byBrand } = yield* aGate()
        const naming = (other: string) => [...rules, { when: {}, then: { queueId: other } }]
        const draws = yield* byBrand("GET", `/queues/${queueId}`)
        const { sequenceId } = draws.body
        const drawAt = new Date(Date.now() + 86_400_000).toISOString()
        const draw = yield* byBrand("POST", "/draws", { sequenceId, name: "Draw", drawAt, winnerCount: 1 })
        for (const other of [unknown, draw.body.id]) {
          const refused = yield* byBrand("PUT", `/gates/${id}`, { rules: naming(other) })
          assert.deepStrictEqual([refused.status, refused.body], [404, { error: "Queue not found" }])
        }
        const body = { name: "Shop", hosts: ["shop.example"], rules }
        const foreign = yield* byBrand("POST", "/gates", body, stranger.secretKey)
        assert.deepStrictEqual([foreign.status, foreign.body], [404, { error: "Queue not found" }])
        yield* byBrand("DELETE", `/queues/${queueId}`)
        assert.strictEqual((yield* byBrand("PUT", `/gates/${id}`, { name: "Renamed" })).status, 200)
      })
    )

    it.effect("is refused with what is malformed, and names every mistake", () =>
      Effect.gen(function* () {
        const { id, queueId, byBrand } = yield* aGate()
        const then = { queueId }
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ hosts: [] }, ["hosts: min_length"]],
          [{ hosts: ["shop.example:443"] }, ["hosts.0: string"]],
          [{ hosts: ["https://shop.example"] }, ["hosts.0: string"]],
          [{ hosts: ["-a.example"] }, ["hosts.0: string"]],
          [{ rules: [{ when: { path: "checkout" }, then }] }, ["rules.0.when.path: string"]],
          [{ rules: [{ when: { methods: ["get"] }, then }] }, ["rules.0.when.methods.0: string"]],
          [{ rules: [{ when: { header: { name: "a b" } }, then }] }, ["rules.0.when.header.name: string"]],
          [{ rules: [{ when: { pathprefix: "/" }, then: "pass" }] }, ["rules.0: object"]],
          [{ rules: [{ when: {}, then: { queueId: "x" } }] }, ["rules.0.then.queueId: uuid"]],
          [{ failMode: "ajar" }, ["failMode: picklist"]],
          [{ returnPath: "return" }, ["returnPath: string"]],
          [{ cookie: { domain: "other.example" } }, ["cookie: object"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const changed = yield* byBrand("PUT", `/gates/${id}`, mistake)
          assert.deepStrictEqual(issuesOf(changed), expected, JSON.stringify(mistake))
        }
        const many = Array.from({ length: 101 }, () => ({ when: {}, then }))
        assert.deepStrictEqual(issuesOf(yield* byBrand("PUT", `/gates/${id}`, { rules: many })), ["rules: max_length"])
      })
    )

    it.effect("tells what it does with a request", () =>
      Effect.gen(function* () {
        const { id, queueId, rules, byBrand, byGate } = yield* aGate()
        const preview = { name: "Monitor", when: { header: { name: "X-Monitor" } }, then: "pass" }
        yield* byBrand("PUT", `/gates/${id}`, { rules: [preview, ...rules] })
        const tried = (path: string, headers: object = {}, method = "GET") =>
          Effect.map(
            byBrand("POST", `/gates/${id}/test`, { method, url: `https://shop.example${path}`, headers }),
            ({ body }) => [body.rule?.name ?? null, body.decision]
          )
        assert.deepStrictEqual(yield* tried("/"), [null, "pass"])
        assert.deepStrictEqual(yield* tried("/checkout/1"), ["Checkout", "ask"])
        assert.deepStrictEqual(yield* tried("/a/..//CheckOut/1"), ["Checkout", "ask"])
        assert.deepStrictEqual(yield* tried("/checkout", { "x-monitor": "1" }), ["Monitor", "pass"])
        assert.deepStrictEqual(yield* tried("/.usher/return?to=/"), [null, "return"])
        const { admissionGrant } = (yield* byGate(`/queues/${queueId}/pass`, { method: "POST", body: {} })).body
        const { experienceId } = (yield* byBrand("GET", `/queues/${queueId}`)).body
        const cookie = `__Host-usher-grant-${experienceId}=${admissionGrant}`
        assert.deepStrictEqual(yield* tried("/checkout", { Cookie: cookie }), ["Checkout", "pass"])
        yield* byBrand("POST", `/queues/${queueId}/pause`)
        assert.deepStrictEqual(yield* tried("/checkout"), ["Checkout", "room"])
        assert.deepStrictEqual(yield* tried("/checkout", { accept: "application/json" }), ["Checkout", "wait"])
        const refused = yield* byBrand("POST", `/gates/${id}/test`, { method: "GET", url: "/checkout" })
        assert.deepStrictEqual(issuesOf(refused), ["url: string"])
      })
    )
  })
})
