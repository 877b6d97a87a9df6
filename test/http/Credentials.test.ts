/** Every operation of both APIs with every credential there is: who is let in, and what the others are told. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { HttpApiGroup } from "effect/http-api"
import * as ApiKeys from "../../src/auth/ApiKeys.ts"
import { AdminApi } from "../../src/http/admin/Api.ts"
import { ConsumerApi } from "../../src/http/consumer/Api.ts"
import * as TestDatabase from "../store/TestDatabase.ts"
import { type Answer, asConsumer, asServer, type Call, Usher } from "./usherFixture.ts"
import * as Fixture from "./usherFixture.ts"

type Row = "public read" | "session creation" | "session upgrade" | "session end" | "consumer action" | "server action"

/** The rows of the table of credentials, by operation of the Consumer API. An operation without a row fails the suite. */
const rows: { readonly [operation: string]: Row } = {
  "POST /api/auth/guest": "session creation",
  "POST /api/auth/otp/request": "session creation",
  "POST /api/auth/otp/verify": "session upgrade",
  "POST /api/auth/external/authorize": "server action",
  "POST /api/auth/external/exchange": "session creation",
  "POST /api/auth/refresh": "session creation",
  "POST /api/auth/logout": "session end",
  "GET /api/queues/:queueId": "public read",
  "POST /api/queues/:queueId/enter": "consumer action",
  "POST /api/queues/:queueId/leave": "consumer action",
  "GET /api/queues/:queueId/status": "consumer action",
  "POST /api/queues/:queueId/admit": "server action",
  "POST /api/queues/:queueId/deny": "server action",
  "POST /api/queues/:queueId/complete": "server action",
  "POST /api/queues/:queueId/validate": "server action"
}

const operationsOf = (api: { readonly groups: object }) =>
  (Object.values(api.groups) as ReadonlyArray<HttpApiGroup.Top>).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }) => ({ method, path }))
  )

const anyId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const authenticationRequired = { status: 401, error: "Authentication required" }
const secretKeyRequired = { status: 401, error: "Secret key required" }

/** Everything that is no credential anywhere, and everything that is a credential somewhere. */
const makeCredentials = Effect.gen(function* () {
  const { brand, stranger, guest } = yield* Usher
  const { publishableKey, secretKey, testPublishableKey, testSecretKey, organizationId } = brand
  const { accessToken, refreshToken, consumerId } = yield* guest()
  const strangersToken = (yield* guest(stranger.publishableKey)).accessToken
  const testToken = (yield* guest(testPublishableKey)).accessToken
  const sql = yield* SqlClient.SqlClient
  const revoked = { publishable: ApiKeys.make("publishable", "live"), secret: ApiKeys.make("secret", "live") }
  for (const [kind, { hash, display }] of Object.entries(revoked)) {
    yield* sql`
      insert into api_keys (id, organization_id, mode, kind, hash, display, created_at, revoked_at)
      values (gen_random_uuid(), ${organizationId}, 'live', ${kind}, ${hash}, ${display}, now(), now())`
  }
  const unknown = { publishable: ApiKeys.make("publishable", "live").text, secret: ApiKeys.make("secret", "live").text }

  const worthless: { readonly [name: string]: Call["headers"] } = {
    nothing: {},
    "an unknown publishable key": { "x-publishable-key": unknown.publishable },
    "a revoked publishable key": { "x-publishable-key": revoked.publishable.text },
    "a malformed publishable key": { "x-publishable-key": "pk_live_short" },
    "a publishable key with one character changed": { "x-publishable-key": changed(publishableKey) },
    "an empty publishable key": { "x-publishable-key": "" },
    "an unknown secret key": asServer(unknown.secret, consumerId),
    "a revoked secret key": asServer(revoked.secret.text, consumerId),
    "a malformed secret key": asServer("sk_live_short", consumerId),
    "a secret key with one character changed": asServer(changed(secretKey), consumerId),
    "a secret key under another scheme": { authorization: `Basic ${secretKey}`, "x-consumer-id": consumerId },
    "an empty bearer": { authorization: "Bearer " },
    "a bearer that is no token": { authorization: "Bearer hello" },
    "a changed token": { authorization: `Bearer ${changed(accessToken)}` },
    "a refresh token": { authorization: `Bearer ${refreshToken}` }
  }
  return {
    brand,
    worthless,
    publishable: { "x-publishable-key": publishableKey },
    publishableAsBearer: { authorization: `Bearer ${publishableKey}`, "x-consumer-id": consumerId },
    secret: asServer(secretKey),
    secretAsPublishable: { "x-publishable-key": secretKey },
    server: asServer(secretKey, consumerId),
    testServer: asServer(testSecretKey, consumerId),
    tokenAlone: { authorization: `Bearer ${accessToken}` },
    consumer: asConsumer(publishableKey, accessToken),
    strangersConsumer: asConsumer(publishableKey, strangersToken),
    testConsumer: asConsumer(publishableKey, testToken),
    consumerOfUnknownKey: asConsumer(unknown.publishable, accessToken),
    consumerOfSecretKey: asConsumer(secretKey, accessToken),
    refreshing: asConsumer(publishableKey, refreshToken)
  }
})

const changed = (text: string) => text.slice(0, -5) + (text.at(-5) === "A" ? "B" : "A") + text.slice(-4)

const verdict = ({ status, body }: Answer) => ({ status, error: body.error })

describe.skipIf(!TestDatabase.serverAnswers)(TestDatabase.title("Credentials"), () => {
  layer(Fixture.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("are laid down for every operation of the Consumer API", () =>
      Effect.sync(() => {
        const operations = operationsOf(ConsumerApi).map(({ method, path }) => `${method} ${path}`)
        assert.deepStrictEqual(operations.toSorted(), Object.keys(rows).toSorted())
      })
    )

    it.effect("that are none are refused by every operation", () =>
      Effect.gen(function* () {
        const { consumer, admin } = yield* Usher
        const { worthless } = yield* makeCredentials
        for (const [api, call] of [
          [ConsumerApi, consumer],
          [AdminApi, admin]
        ] as const) {
          for (const { method, path } of operationsOf(api)) {
            for (const [name, headers] of Object.entries(worthless)) {
              const answer = yield* call({ method, path: path.replace(/:\w+/g, anyId), headers: headers! })
              assert.deepStrictEqual(verdict(answer), authenticationRequired, `${method} ${path} with ${name}`)
              assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
            }
          }
        }
      })
    )

    it.effect("decide before the request is looked at", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const answer = yield* consumer({ method: "POST", path: "/api/queues/no-id/deny", body: "no json" })
        assert.strictEqual(answer.status, 401)
      })
    )

    const told = (row: Row) =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const { worthless: _, brand: __, ...credentials } = yield* makeCredentials
        const operations = operationsOf(ConsumerApi).filter(({ method, path }) => rows[`${method} ${path}`] === row)
        const found: Record<string, unknown> = {}
        for (const [name, headers] of Object.entries(credentials)) {
          for (const { method, path } of operations) {
            const answer = yield* consumer({ method, path: path.replace(/:\w+/g, anyId), headers })
            const outcome =
              answer.status === 401 ? answer.body.error : answer.status === 404 ? answer.body.error : "let in"
            assert.strictEqual(found[name] ?? outcome, outcome, `${method} ${path} with ${name}`)
            found[name] = outcome
          }
        }
        return found
      })

    const { error: none } = authenticationRequired
    const { error: secretNeeded } = secretKeyRequired

    it.effect("for public reads are a publishable or a secret key", () =>
      Effect.gen(function* () {
        const letIn = "Queue not found"
        assert.deepStrictEqual(yield* told("public read"), {
          publishable: letIn,
          publishableAsBearer: none,
          secret: letIn,
          secretAsPublishable: none,
          server: letIn,
          testServer: letIn,
          tokenAlone: none,
          consumer: letIn,
          strangersConsumer: letIn,
          testConsumer: letIn,
          consumerOfUnknownKey: none,
          consumerOfSecretKey: none,
          refreshing: letIn
        })
      })
    )

    it.effect("for session creation are a publishable key", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* told("session creation"), {
          publishable: "let in",
          publishableAsBearer: none,
          secret: none,
          secretAsPublishable: none,
          server: none,
          testServer: none,
          tokenAlone: none,
          consumer: "let in",
          strangersConsumer: "let in",
          testConsumer: "let in",
          consumerOfUnknownKey: none,
          consumerOfSecretKey: none,
          refreshing: "let in"
        })
      })
    )

    it.effect("for a one-time code are a publishable key, and beside it nothing but a token of the same tenant", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* told("session upgrade"), {
          publishable: "let in",
          publishableAsBearer: none,
          secret: none,
          secretAsPublishable: none,
          server: none,
          testServer: none,
          tokenAlone: none,
          consumer: "let in",
          strangersConsumer: none,
          testConsumer: none,
          consumerOfUnknownKey: none,
          consumerOfSecretKey: none,
          refreshing: none
        })
      })
    )

    it.effect("for the end of a session are its token, whatever stands beside it", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const names = Object.keys(yield* makeCredentials).filter((name) => name !== "worthless" && name !== "brand")
        const letIn: Array<string> = []
        for (const name of names) {
          // New ones each time: whoever is let in has no session afterwards.
          const headers = ((yield* makeCredentials) as unknown as Record<string, Call["headers"]>)[name]!
          const { status } = yield* consumer({ method: "POST", path: "/api/auth/logout", headers })
          if (status === 204) letIn.push(name)
          else assert.strictEqual(status, 401, name)
        }
        assert.deepStrictEqual(letIn, [
          "tokenAlone",
          "consumer",
          "strangersConsumer",
          "testConsumer",
          "consumerOfUnknownKey",
          "consumerOfSecretKey"
        ])
      })
    )

    it.effect("for consumer actions are a key and a token of one tenant, or a secret key and a consumer's id", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* told("consumer action"), {
          publishable: none,
          publishableAsBearer: none,
          secret: none,
          secretAsPublishable: none,
          server: "Queue not found",
          testServer: "Consumer not found",
          tokenAlone: none,
          consumer: "Queue not found",
          strangersConsumer: none,
          testConsumer: none,
          consumerOfUnknownKey: none,
          consumerOfSecretKey: none,
          refreshing: none
        })
      })
    )

    it.effect("for server actions are a secret key; what is good elsewhere is told so", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* told("server action"), {
          publishable: secretNeeded,
          publishableAsBearer: secretNeeded,
          secret: "let in",
          secretAsPublishable: secretNeeded,
          server: "let in",
          testServer: "let in",
          tokenAlone: secretNeeded,
          consumer: secretNeeded,
          strangersConsumer: secretNeeded,
          testConsumer: secretNeeded,
          consumerOfUnknownKey: secretNeeded,
          consumerOfSecretKey: secretNeeded,
          refreshing: none
        })
      })
    )

    it.effect("for the Admin API are a secret key", () =>
      Effect.gen(function* () {
        const { admin } = yield* Usher
        const { publishable, publishableAsBearer, consumer, tokenAlone } = yield* makeCredentials
        for (const { method, path } of operationsOf(AdminApi)) {
          for (const headers of [publishable, publishableAsBearer, consumer, tokenAlone]) {
            const answer = yield* admin({ method, path: path.replace(/:\w+/g, anyId), headers })
            assert.deepStrictEqual(verdict(answer), secretKeyRequired, `${method} ${path}`)
          }
        }
      })
    )

    it.effect("of a server must name a consumer of the tenant", () =>
      Effect.gen(function* () {
        const { consumer, brand, stranger, guest } = yield* Usher
        const path = `/api/queues/${anyId}/status`
        const theirs = (yield* guest(stranger.publishableKey)).consumerId
        const theirAnswer = yield* consumer({ path, headers: asServer(brand.secretKey, theirs) })
        const unknownAnswer = yield* consumer({ path, headers: asServer(brand.secretKey, anyId) })
        assert.deepStrictEqual([theirAnswer.status, theirAnswer.text], [404, '{"error":"Consumer not found"}'])
        assert.strictEqual(theirAnswer.text, unknownAnswer.text)
        const malformed = yield* consumer({ path, headers: asServer(brand.secretKey, "me") })
        assert.deepStrictEqual([malformed.status, malformed.body.issues[0].type], [400, "uuid"])
      })
    )

    it.effect("that were good stay good without a look at the database, until keys change", () =>
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

    it.effect("of an organization that names its origins may only be used from these by browsers", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
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
        yield* sql`update organizations set settings = '{}' where id = ${brand.organizationId}`
        yield* keys.invalidate
      })
    )
  })
})
