import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { tricks } from "../../../delivery/webhook/addressTricks.ts"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const settings = { url: "https://shop.example/hooks", events: ["distribution.joined", "distribution.admitted"] }

const aWebhook = Effect.fnUntraced(function* (body: object = {}) {
  const { call } = yield* Admin
  const answer = yield* call("POST", "/webhooks", { ...settings, ...body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer.body
})

describe("Webhooks on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("show their secret when they are created and when it is replaced, and never again", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const created = yield* aWebhook()
        assert.match(created.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
        const { secret: _, ...webhook } = created
        assert.deepInclude(webhook, {
          ...settings,
          description: null,
          ordering: "consumer",
          schedule: "standard",
          delivery: "single",
          status: "ENABLED",
          disabledReason: null
        })
        assert.deepStrictEqual((yield* call("GET", `/webhooks/${created.id}`)).body, webhook)
        const rotated = yield* call("POST", `/webhooks/${created.id}/secret/rotate`, {})
        assert.notStrictEqual(rotated.body.secret, created.secret)
        assert.notInclude((yield* call("GET", `/webhooks/${created.id}`)).text, "whsec_")
      })
    )

    it.effect("take a secret of the caller's own", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* aWebhook({ secret: "a secret of sixteen" })).secret, "a secret of sixteen")
      })
    )

    it.effect("refuse addresses that are not public, unknown types and short secrets, and name each", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aWebhook()
        for (const url of ["http://shop.example/", "https://127.0.0.1:8443/", "https://user@shop.example/", "shop"]) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/webhooks", { ...settings, url })), ["url: string"])
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/webhooks/${id}`, { url })), ["url: string"])
        }
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ events: [] }, ["events: min_length"]],
          [{ events: ["distribution.unknown"] }, ["events.0: picklist"]],
          [{ delivery: "bulk" }, ["delivery: picklist"]],
          [{ ordering: "random" }, ["ordering: picklist"]],
          [{ secret: "short" }, ["secret: min_length"]]
        ]
        for (const [mistake, expected] of mistakes) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/webhooks", { ...settings, ...mistake })), expected)
        }
      })
    )

    it.effect("can be disabled and enabled", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aWebhook()
        const disabled = yield* call("POST", `/webhooks/${id}/disable`)
        assert.deepInclude(disabled.body, { status: "DISABLED", disabledReason: "ADMIN_ACTION" })
        const enabled = yield* call("POST", `/webhooks/${id}/enable`, { from: "now" })
        assert.deepInclude(enabled.body, { status: "ENABLED", disabledReason: null })
      })
    )

    it.effect("answer the result of a test event, which reveals nothing about an address that is not public", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aWebhook({ url: "https://localhost:8443/" })
        const { body } = yield* call("POST", `/webhooks/${id}/test`)
        assert.deepInclude(body, { statusCode: null, body: "The address could not be reached" })
      })
    )

    it.effect("list a test event with the deliveries, and never send it again", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const { id: made } = yield* aWebhook({ url: "https://localhost:8443/" })
        const { body: attempt } = yield* call("POST", `/webhooks/${made}/test`, { type: "order.paid" })
        const { data } = (yield* call("GET", `/webhooks/${made}/deliveries`)).body
        assert.strictEqual(data.length, 1)
        assert.deepInclude(data[0], { type: "order.paid", status: "FAILED" })
        assert.match(data[0].eventId, /^evt_test_/)
        assert.deepStrictEqual(data[0].attempts, [attempt])
        yield* call("POST", `/webhooks/${made}/replay`, { from: "failed" })
        assert.strictEqual((yield* call("GET", `/webhooks/${made}/deliveries`)).body.data[0].status, "FAILED")
        assert.strictEqual((yield* call("GET", `/webhooks/${made}/deliveries`, undefined, stranger)).status, 404)
      })
    )

    it.effect("refuse every trick to reach an inward address, or at the latest the look-up of its host does", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        let refused = 0
        for (const [trick, url] of tricks(8_443)) {
          const { status, body } = yield* call("POST", "/webhooks", { ...settings, url })
          if (status === 400) {
            refused++
            continue
          }
          assert.strictEqual(status, 201, `${trick}: ${url}`)
          const { body: attempt } = yield* call("POST", `/webhooks/${body.id}/test`)
          assert.isNull(attempt.statusCode, `${trick}: ${url}`)
          assert.match(attempt.body, /^The address could not be reached/)
        }
        assert.isAtLeast(refused, 80)
      })
    )

    it.effect("take the type of a test event, and where a replay begins", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aWebhook({ url: "https://localhost:8443/" })
        const named = yield* call("POST", `/webhooks/${id}/test`, { type: "order.paid" })
        assert.deepInclude(named.body, { statusCode: null, body: "The address could not be reached" })
        const unknown = yield* call("POST", `/webhooks/${id}/test`, { type: "order.unknown" })
        assert.deepStrictEqual(issuesOf(unknown), ["type: picklist"])
        for (const from of ["failed", "2026-11-22T18:00:00Z", { sequence: 3 }]) {
          assert.strictEqual((yield* call("POST", `/webhooks/${id}/replay`, { from })).status, 200)
        }
        for (const from of ["yesterday", 3, { sequence: 0 }]) {
          assert.strictEqual((yield* call("POST", `/webhooks/${id}/replay`, { from })).status, 400)
        }
      })
    )

    it.effect("list the types of events with a sentence for each", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* call("GET", "/event-types")
        assert.deepInclude(body.data, {
          type: "distribution.admitted",
          description: "A consumer received a grant."
        })
      })
    )
  })
})
