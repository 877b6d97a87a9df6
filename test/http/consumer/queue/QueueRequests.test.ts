/** Invalid requests for a queue, and requests for queues that are not visible to the caller. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { inQueue } from "./queueFixture.ts"

const anyId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("A request about a queue", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("finds no queue of another organization, of the other mode, or archived", () =>
      Effect.gen(function* () {
        const { consumer, admin, guest, queue, brand, stranger } = yield* Usher
        const queueId = yield* queue()
        const read = (publishableKey: string, id = queueId) =>
          consumer({ path: `/api/queues/${id}`, headers: { "x-publishable-key": publishableKey } })
        const enter = Effect.fnUntraced(function* (publishableKey: string, id = queueId) {
          const { accessToken } = yield* guest(publishableKey)
          const headers = asConsumer(publishableKey, accessToken)
          return yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
        })
        const unknown = yield* read(brand.publishableKey, anyId)
        assert.deepStrictEqual([unknown.status, unknown.text], [404, '{"error":"Queue not found"}'])
        for (const key of [stranger.publishableKey, brand.testPublishableKey]) {
          assert.strictEqual((yield* read(key)).text, unknown.text)
          assert.strictEqual((yield* enter(key)).text, unknown.text)
        }
        const path = `/api/queues/${queueId}`
        yield* admin({ method: "DELETE", path, headers: asServer(brand.secretKey) })
        assert.strictEqual((yield* read(brand.publishableKey)).text, unknown.text)
        assert.strictEqual((yield* enter(brand.publishableKey)).text, unknown.text)
      })
    )

    it.effect("is refused if it is malformed, with every mistake, and changes nothing", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue, brand } = yield* Usher
        const queueId = yield* queue()
        const line = yield* inQueue(queueId)
        const someone = yield* guest()
        const entered = yield* line.enter(someone)
        const types = (answer: { readonly status: number; readonly body: any }) => {
          assert.deepStrictEqual([answer.status, answer.body.error], [400, "validation_error"])
          return answer.body.issues.map((issue: any) => [issue.path[0]?.key, issue.kind, issue.type])
        }
        const post = (path: string, body: unknown, headers: object = {}) =>
          consumer({ method: "POST", path, headers: { ...asServer(brand.secretKey), ...headers }, body })

        assert.deepStrictEqual(types(yield* post("/api/queues/no-id/deny", { consumerId: 3, reason: "WHIM" })), [
          ["queueId", "validation", "uuid"],
          ["consumerId", "schema", "string"],
          ["reason", "validation", "picklist"]
        ])
        const deny = `/api/queues/${queueId}/deny`
        assert.deepStrictEqual(types(yield* post(deny, "{not json")), [[undefined, "schema", "json"]])
        assert.deepStrictEqual(types(yield* post(deny, [])), [[undefined, "schema", "object"]])
        assert.deepStrictEqual(types(yield* post(deny, undefined)), [[undefined, "schema", "object"]])
        assert.deepStrictEqual(types(yield* post(deny, {})), [
          ["consumerId", "schema", "string"],
          ["reason", "schema", "picklist"]
        ])
        const text = yield* post(deny, "hello", { "content-type": "text/plain" })
        assert.deepStrictEqual([text.status, text.body], [415, { error: "Content-Type must be application/json" }])
        const large = yield* post(deny, { consumerId: someone.consumerId, reason: "x".repeat(1024 * 1024) })
        assert.strictEqual(large.status, 413)
        assert.deepStrictEqual((yield* line.status(someone)).body, entered.body)
        const secret = yield* post(`/api/queues/${queueId}/validate`, { consumerId: "canary-1", token: ["canary-2"] })
        assert.deepStrictEqual(types(secret), [
          ["consumerId", "validation", "uuid"],
          ["token", "schema", "string"]
        ])
        assert.notInclude(secret.text, "canary-2")
      })
    )

    it.effect("can contain identifiers in any case, and unknown fields", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const queueId = yield* queue()
        const { enter } = yield* inQueue(queueId.toUpperCase())
        const someone = yield* guest()
        assert.strictEqual((yield* enter(someone)).body.status, "QUEUED")
        const { admit } = yield* inQueue(queueId)
        const { status } = yield* admit({ consumerId: someone.consumerId.toUpperCase(), extra: true })
        assert.strictEqual(status, 200)
      })
    )
  })
})
