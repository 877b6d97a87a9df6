/**
 * The credentials that each operation of the Consumer API requires, and rules besides their validity. The credential
 * matrix (`matrix/`) sends every credential to every operation and compares the result with the declaration.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as ApiKeys from "../../../src/auth/keys/ApiKeys.ts"
import { type Operation, operations, type Scheme } from "../matrix/operations.ts"
import { asConsumer, asServer, Usher } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"

type Row =
  | "anyone"
  | "public read"
  | "session creation"
  | "session upgrade"
  | "session end"
  | "consumer action"
  | "server action"
  | "gate action"

/**
 * The table of credentials: for each row the alternatives, and within an alternative everything that is required
 * together.
 */
const requirements: { readonly [R in Row]: ReadonlyArray<ReadonlyArray<Scheme>> } = {
  anyone: [[]],
  "public read": [["publishableKey"], ["secretKey"]],
  "session creation": [["publishableKey"]],
  "session upgrade": [["publishableKey"], ["publishableKey", "accessToken"]],
  "session end": [["accessToken"]],
  "consumer action": [
    ["publishableKey", "accessToken"],
    ["secretKey", "consumerId"]
  ],
  "server action": [["secretKey"]],
  "gate action": [["secretKey"], ["gateKey"]]
}

/** The row of each operation; `*` is any mechanism or record. An operation without a row fails the suite. */
const rows: { readonly [operation: string]: Row } = {
  "POST /api/auth/guest": "session creation",
  "POST /api/auth/otp/request": "session creation",
  "POST /api/auth/otp/verify": "session upgrade",
  "POST /api/auth/external/authorize": "server action",
  "POST /api/auth/external/exchange": "session creation",
  "POST /api/auth/refresh": "session creation",
  "POST /api/auth/logout": "session end",
  "GET /api/consumers/me": "consumer action",
  "GET /api/consumers/:consumerId": "server action",
  "GET /api/*/:id/page": "public read",
  "PUT /api/consumers/me": "consumer action",
  "GET /api/consumers/me/sessions": "consumer action",
  "DELETE /api/consumers/me/sessions": "consumer action",
  "DELETE /api/consumers/me/sessions/:sessionId": "consumer action",
  "GET /api/*/:id": "public read",
  "GET /api/*/:id/next": "public read",
  "GET /api/*/:id/proof": "public read",
  "GET /api/*/:id/slots": "public read",
  "GET /api/*/:id/bids": "public read",
  "GET /api/*/:id/bids/history": "public read",
  "GET /api/*/:id/highest-bid": "public read",
  "GET /api/*/:id/current-price": "public read",
  "POST /api/*/:id/enter": "consumer action",
  "POST /api/*/:id/leave": "consumer action",
  "DELETE /api/*/:id/leave": "consumer action",
  "GET /api/*/:id/status": "consumer action",
  "GET /api/*/:id/events": "consumer action",
  "POST /api/*/:id/bid": "consumer action",
  "POST /api/*/:id/book": "consumer action",
  "POST /api/*/:id/cancel": "consumer action",
  "POST /api/*/:id/reschedule": "consumer action",
  "GET /api/*/:id/me": "consumer action",
  "GET /api/*/:id/reminder": "consumer action",
  "PUT /api/*/:id/reminder": "consumer action",
  "DELETE /api/*/:id/reminder": "consumer action",
  "GET /api/*/:id/outbid-alert": "consumer action",
  "PUT /api/*/:id/outbid-alert": "consumer action",
  "DELETE /api/*/:id/outbid-alert": "consumer action",
  "POST /api/*/:id/admit": "server action",
  "POST /api/*/:id/deny": "server action",
  "POST /api/*/:id/complete": "server action",
  "POST /api/*/:id/validate": "server action",
  "POST /api/*/:id/pass": "gate action",
  "POST /api/*/:id/renew": "gate action",
  "GET /api/gates/:gateId": "gate action",
  "GET /api/gates/:gateId/ended": "gate action",
  "GET /api/grants/revoked": "server action",
  "GET /api/*/:id/live": "anyone",
  "GET /api/*/:id/live/events": "anyone",
  "GET /api/*/:id/line": "anyone"
}

const rowOf = ({ name }: Operation): Row | undefined =>
  rows[name] ?? rows[name.replace(/\/api\/[\w-]+\/:\w+/, "/api/*/:id")]

const anyId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("Credentials", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are required by every operation as in the table", () =>
      Effect.sync(() => {
        for (const operation of operations) {
          const row = operation.api === "admin" ? "server action" : rowOf(operation)
          assert.isDefined(row, `${operation.name} has a row`)
          assert.deepStrictEqual(operation.requirement, requirements[row], operation.name)
        }
      })
    )

    it.effect("are checked before the request is decoded", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const answer = yield* consumer({ method: "POST", path: "/api/queues/no-id/deny", body: "no json" })
        assert.strictEqual(answer.status, 401)
      })
    )

    it.effect("that an operation does not require are ignored", () =>
      Effect.gen(function* () {
        const { consumer, brand, stranger, guest } = yield* Usher
        const { publishableKey, testPublishableKey, secretKey } = brand
        const { refreshToken } = yield* guest()
        const ignored = [
          (yield* guest(stranger.publishableKey)).accessToken,
          (yield* guest(testPublishableKey)).accessToken,
          refreshToken,
          "hello"
        ]
        const keyOnly = operations.filter(
          (operation) => operation.api === "consumer" && /public read|session creation/.test(rowOf(operation) ?? "")
        )
        assert.isNotEmpty(keyOnly)
        for (const { name, method, path } of keyOnly) {
          for (const token of ignored) {
            const headers = asConsumer(publishableKey, token)
            const { status } = yield* consumer({ method, path: path.replace(/:\w+/g, anyId), headers })
            assert.notStrictEqual(status, 401, name)
          }
        }
        for (const key of [publishableKey, secretKey, "hello", ApiKeys.make("publishable", "live").text]) {
          const headers = asConsumer(key, (yield* guest(stranger.publishableKey)).accessToken)
          assert.strictEqual((yield* consumer({ method: "POST", path: "/api/auth/logout", headers })).status, 204)
        }
      })
    )

    it.effect("of a server must contain a consumer's id", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const headers = asServer(brand.secretKey, "me")
        const { status, body } = yield* consumer({ path: `/api/queues/${anyId}/status`, headers })
        assert.deepStrictEqual([status, body.issues[0].type], [400, "uuid"])
      })
    )

    it.effect("that were valid stay valid from the cache, until keys change", () =>
      Effect.gen(function* () {
        const { consumer, stranger, guest } = yield* Usher
        const keys = yield* ApiKeys.ApiKeys
        const sql = yield* SqlClient.SqlClient
        const { accessToken } = yield* guest(stranger.publishableKey)
        const status = Effect.map(
          consumer({
            path: `/api/queues/${anyId}/status`,
            headers: asConsumer(stranger.publishableKey, accessToken)
          }),
          (answer) => answer.status
        )
        assert.strictEqual(yield* status, 404)
        yield* sql`update api_keys set revoked_at = now() where organization_id = ${stranger.organizationId}`
        assert.strictEqual(yield* status, 404)
        yield* keys.invalidate
        assert.strictEqual(yield* status, 401)
        yield* sql`update api_keys set revoked_at = null where organization_id = ${stranger.organizationId}`
      })
    )

    it.effect("of an organization with allowed origins work only from these in browsers", () =>
      Effect.gen(function* () {
        const { consumer, brand, guest } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const keys = yield* ApiKeys.ApiKeys
        const origins = (origin: string, path: string) =>
          Effect.map(
            consumer({ path, headers: { "x-publishable-key": brand.publishableKey, origin } }),
            ({ headers }) => headers["access-control-allow-origin"]
          )
        const path = `/api/queues/${anyId}`
        assert.strictEqual(yield* origins("https://anywhere.example", path), "*")
        yield* sql`
          update organizations set settings = '{"allowedOrigins": ["https://shop.example"]}'
          where id = ${brand.organizationId}`
        yield* keys.invalidate
        for (const place of [path, "/api/queues/no-id"]) {
          assert.strictEqual(yield* origins("https://shop.example", place), "https://shop.example")
          assert.isUndefined(yield* origins("https://anywhere.example", place))
        }
        for (const [origin, allowed] of [
          ["https://shop.example", "https://shop.example"],
          ["https://anywhere.example", undefined]
        ] as const) {
          const authorization = `Bearer ${(yield* guest()).accessToken}`
          const answer = yield* consumer({
            method: "POST",
            path: "/api/auth/logout",
            headers: { authorization, origin }
          })
          assert.deepStrictEqual([answer.status, answer.headers["access-control-allow-origin"]], [204, allowed])
        }
        yield* sql`update organizations set settings = '{}' where id = ${brand.organizationId}`
        yield* keys.invalidate
      })
    )
  })
})
