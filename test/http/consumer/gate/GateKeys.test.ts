/** What the key of a gate opens, and what it does not. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { soon } from "../mechanism/mechanismFixture.ts"
import { aGate } from "../../support/gateFixture.ts"
import { operations } from "../../matrix/operations.ts"
import { asServer, layer as usherLayer, Usher } from "../../support/usherFixture.ts"

const post = (body: unknown = {}) => ({ method: "POST", body })

describe("The key of a gate", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("opens the gate's record, which says what a gate in the field needs", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const { id, queueId, rules, byBrand, byGate } = yield* aGate()
        const read = yield* byGate(`/gates/${id}`)
        assert.strictEqual(read.status, 200)
        const { version, keysUrl, queues, ...shown } = read.body
        assert.deepStrictEqual(shown, {
          id,
          organizationId: brand.organizationId,
          mode: "live",
          hosts: ["shop.example"],
          rules,
          failMode: "closed",
          cookie: {},
          returnPath: "/.usher/return"
        })
        assert.isTrue(keysUrl.endsWith("/.well-known/jwks.json"))
        const { experienceId } = (yield* byBrand("GET", `/queues/${queueId}`)).body
        assert.deepStrictEqual(Object.keys(queues), [queueId])
        const { roomUrl, ...queue } = queues[queueId]
        const admissionRenewal = { idleSeconds: 60, maxSeconds: 3_600 }
        assert.deepStrictEqual(queue, { experienceId, state: "open", engaged: false, admissionRenewal })
        assert.isTrue(roomUrl.endsWith(`/e/${experienceId}`))
        assert.strictEqual((yield* byGate(`/gates/${id}`, {}, brand.secretKey)).text, read.text)
        yield* byBrand("PUT", `/gates/${id}`, { failMode: "open" })
        assert.notStrictEqual((yield* byGate(`/gates/${id}`)).body.version, version)
      })
    )

    it.effect("reads a record that has not changed as a 304", () =>
      Effect.gen(function* () {
        const { id, queueId, byBrand, byGate } = yield* aGate()
        const { headers } = yield* byGate(`/gates/${id}`)
        assert.strictEqual(headers["cache-control"], "private, max-age=10")
        const ifChanged = { headers: { "if-none-match": headers["etag"]! } }
        const unchanged = yield* byGate(`/gates/${id}`, ifChanged)
        assert.deepStrictEqual([unchanged.status, unchanged.text], [304, ""])
        yield* byBrand("POST", `/queues/${queueId}/pause`)
        const engaged = yield* byGate(`/gates/${id}`, ifChanged)
        assert.strictEqual(engaged.status, 200)
        assert.isTrue(engaged.body.queues[queueId].engaged)
      })
    )

    it.effect("says which queues have not opened, and which have ended or are archived", () =>
      Effect.gen(function* () {
        const stateOf = ({ id, queueId, byGate }: Effect.Success<ReturnType<typeof aGate>>) =>
          Effect.map(byGate(`/gates/${id}`), ({ body }) => body.queues[queueId].state)
        assert.strictEqual(yield* stateOf(yield* aGate({}, { openAt: soon(60) })), "scheduled")
        const ended = yield* aGate()
        yield* ended.byGate(`/queues/${ended.queueId}/pass`, post())
        assert.strictEqual(yield* stateOf(ended), "open")
        yield* ended.byBrand("POST", `/queues/${ended.queueId}/end`)
        assert.strictEqual(yield* stateOf(ended), "ended")
        yield* ended.byBrand("DELETE", `/queues/${ended.queueId}`)
        assert.strictEqual(yield* stateOf(ended), "ended")
        // Nobody is inside: it is put away at once.
        const empty = yield* aGate()
        yield* empty.byBrand("DELETE", `/queues/${empty.queueId}`)
        yield* Effect.sleep(200)
        assert.strictEqual(yield* stateOf(empty), "ended")
        assert.strictEqual((yield* empty.byGate(`/queues/${empty.queueId}/pass`, post())).status, 404)
      })
    )

    it.effect("passes and renews in the queues that its rules name", () =>
      Effect.gen(function* () {
        const { queueId, id, byBrand, byGate } = yield* aGate()
        const passed = yield* byGate(`/queues/${queueId}/pass`, post())
        assert.deepStrictEqual([passed.status, passed.body.status], [200, "GRANTED"])
        const grants = [passed.body.admissionGrant]
        assert.strictEqual((yield* byGate(`/queues/${queueId}/renew`, post({ grants }))).body.renewed, 1)
        const many = Array.from({ length: 500 }, () => `${queueId}.1.${"A".repeat(22)}`)
        assert.strictEqual((yield* byGate(`/queues/${queueId}/renew`, post({ grants: many }))).status, 200)
        yield* byBrand("PUT", `/gates/${id}`, { rules: [] })
        const refused = yield* byGate(`/queues/${queueId}/pass`, post())
        assert.deepStrictEqual([refused.status, refused.body], [404, { error: "Queue not found" }])
      })
    )

    it.effect("lists the grants of its queues that have ended, and no others", () =>
      Effect.gen(function* () {
        const one = yield* aGate()
        const two = yield* aGate()
        const end = Effect.fnUntraced(function* ({ queueId, byGate }: typeof one) {
          const { consumerId, admissionGrant } = (yield* byGate(`/queues/${queueId}/pass`, post())).body
          const { brand } = yield* Usher
          yield* byGate(`/queues/${queueId}/deny`, post({ consumerId, reason: "BOT_DETECTED" }), brand.secretKey)
          return JSON.parse(Buffer.from(admissionGrant.split(".")[1], "base64url").toString()).jti as string
        })
        const jti = yield* end(one)
        yield* end(two)
        const { data } = (yield* one.byGate(`/gates/${one.id}/ended`)).body
        assert.deepStrictEqual(
          data.map((ended: { readonly jti: string; readonly status: string }) => [ended.jti, ended.status]),
          [[jti, "DENIED"]]
        )
        assert.strictEqual((yield* one.byGate(`/gates/${two.id}/ended`)).status, 404)
      })
    )

    it.effect("does not open the account of a consumer that it names", () =>
      Effect.gen(function* () {
        const { queueId, byGate, byBrand } = yield* aGate()
        const externalId = randomUUID()
        yield* byBrand("POST", "/consumers", { externalId, fullName: "Ada" })
        const refused = yield* byGate(`/queues/${queueId}/pass`, post({ externalId }))
        assert.strictEqual(refused.status, 403)
      })
    )

    it.effect("finds no other gate and no other queue, like one that does not exist", () =>
      Effect.gen(function* () {
        const one = yield* aGate()
        const two = yield* aGate()
        const { stranger } = yield* Usher
        for (const id of [two.id, randomUUID()]) {
          const read = yield* one.byGate(`/gates/${id}`)
          assert.deepStrictEqual([read.status, read.body], [404, { error: "Gate not found" }])
        }
        for (const id of [two.queueId, randomUUID()]) {
          for (const [operation, body] of [
            ["pass", {}],
            ["renew", { grants: ["a.b.c"] }]
          ] as const) {
            const refused = yield* one.byGate(`/queues/${id}/${operation}`, post(body))
            assert.deepStrictEqual([refused.status, refused.body], [404, { error: "Queue not found" }])
          }
        }
        assert.strictEqual((yield* one.byGate(`/gates/${one.id}`, {}, stranger.secretKey)).status, 404)
      })
    )

    it.effect("is a wrong credential for every other operation of both APIs", () =>
      Effect.gen(function* () {
        const { consumer, admin } = yield* Usher
        const { key } = yield* aGate()
        let refused = 0
        for (const { api, method, path, name, requirement } of operations) {
          const isForGates = requirement.some((all) => all.includes("gateKey"))
          if (isForGates || requirement.some((all) => all.length === 0)) continue
          const filled = path.replace(/:(\w+)/g, () => randomUUID())
          const send = api === "admin" ? admin : consumer
          const headers = { authorization: `Bearer ${key}`, "x-consumer-id": randomUUID() }
          const answer = yield* send({ method, path: filled, headers, ...(method !== "GET" && { body: {} }) })
          assert.deepStrictEqual([answer.status, answer.body], [401, { error: "Authentication required" }], name)
          refused++
        }
        assert.isAbove(refused, 100)
      })
    )

    it.effect("stops at once when it is replaced, and while its gate is archived", () =>
      Effect.gen(function* () {
        const { id, key, queueId, byBrand, byGate } = yield* aGate()
        assert.strictEqual((yield* byGate(`/gates/${id}`)).status, 200)
        const rotated = yield* byBrand("POST", `/gates/${id}/rotate-key`)
        assert.notStrictEqual(rotated.body.key, key)
        assert.strictEqual((yield* byGate(`/gates/${id}`)).status, 401)
        assert.strictEqual((yield* byGate(`/queues/${queueId}/pass`, post())).status, 401)
        assert.strictEqual((yield* byGate(`/gates/${id}`, {}, rotated.body.key)).status, 200)
        yield* byBrand("DELETE", `/gates/${id}`)
        assert.strictEqual((yield* byGate(`/gates/${id}`, {}, rotated.body.key)).status, 401)
        yield* byBrand("POST", `/gates/${id}/restore`)
        assert.strictEqual((yield* byGate(`/gates/${id}`, {}, rotated.body.key)).status, 200)
      })
    )

    it.effect("is one of its mode, and other texts are none", () =>
      Effect.gen(function* () {
        const { brand, admin, consumer } = yield* Usher
        const body = { name: "Shop", hosts: ["shop.example"], rules: [] }
        const headers = asServer(brand.testSecretKey)
        const { id, key } = (yield* admin({ method: "POST", path: "/api/gates", headers, body })).body
        assert.match(key, /^gk_test_/)
        const read = (as: string) => consumer({ path: `/api/gates/${id}`, headers: { authorization: `Bearer ${as}` } })
        assert.deepInclude((yield* read(key)).body, { id, mode: "test" })
        for (const other of [key.replace("test", "live"), `${key}x`, key.slice(0, -1), "gk_test_", "gk_"]) {
          assert.strictEqual((yield* read(other)).status, 401, other)
        }
        assert.strictEqual((yield* read(brand.publishableKey)).status, 401)
        assert.strictEqual((yield* read(brand.secretKey)).status, 404)
      })
    )
  })
})
