import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

describe("API keys", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are listed by their last characters alone, for the caller's mode", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const { secretKey, publishableKey, testSecretKey, testPublishableKey } = brand
        for (const [mode, secret, publishable] of [
          ["live", secretKey, publishableKey],
          ["test", testSecretKey, testPublishableKey]
        ] as const) {
          const { status, text, body } = yield* admin({ path: "/api/api-keys", headers: asServer(secret) })
          assert.strictEqual(status, 200)
          assert.deepStrictEqual(
            body.data.map(({ createdAt, ...key }: { readonly createdAt: string }) => {
              assert.match(createdAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
              return key
            }),
            [publishable, secret].map((key, index) => ({
              kind: index === 0 ? "publishable" : "secret",
              mode,
              display: `${key.slice(0, 12)}…${key.slice(-4)}`
            }))
          )
          for (const key of [secret, publishable]) assert.notInclude(text, key.slice(12, -4))
        }
      })
    )

    it.effect("are listed in pages like every list", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const headers = asServer(brand.secretKey)
        const first = yield* admin({ path: "/api/api-keys?first=1", headers })
        const after = first.body.pageInfo.endCursor
        const second = yield* admin({ path: `/api/api-keys?first=1&after=${after}`, headers })
        assert.deepStrictEqual([first.body.data[0].kind, second.body.data[0].kind], ["publishable", "secret"])
        const wrong = yield* admin({ path: "/api/api-keys?sortBy=display", headers })
        assert.strictEqual(wrong.status, 400)
      })
    )

    it.effect("are rotated one by one, each in its mode", () =>
      Effect.gen(function* () {
        const { admin, consumer, queue, brand } = yield* Usher
        const rotate = (kind: string, secret: string) =>
          admin({ method: "POST", path: `/api/api-keys/${kind}/rotate`, headers: asServer(secret) })
        const reads = (secret: string) =>
          Effect.map(admin({ path: "/api/experiences", headers: asServer(secret) }), ({ status }) => status)

        assert.strictEqual((yield* rotate("private", brand.secretKey)).body.issues[0].type, "picklist")

        const secret = yield* rotate("secret", brand.secretKey)
        assert.strictEqual(secret.status, 200)
        assert.sameMembers(Object.keys(secret.body), ["kind", "mode", "display", "createdAt", "key"])
        const { key } = secret.body
        assert.deepStrictEqual(
          [yield* reads(brand.secretKey), yield* reads(key), yield* reads(brand.testSecretKey)],
          [401, 200, 200]
        )
        assert.strictEqual((yield* rotate("secret", brand.secretKey)).status, 401)

        const queueId = yield* queue({}, key)
        const sees = (publishable: string) =>
          Effect.map(
            consumer({ path: `/api/queues/${queueId}`, headers: { "x-publishable-key": publishable } }),
            ({ status }) => status
          )
        assert.strictEqual(yield* sees(brand.publishableKey), 200)
        const publishable = yield* rotate("publishable", key)
        assert.deepStrictEqual([yield* sees(brand.publishableKey), yield* sees(publishable.body.key)], [401, 200])

        const test = yield* rotate("secret", brand.testSecretKey)
        assert.match(test.body.key, /^sk_test_/)
        assert.deepStrictEqual(
          [yield* reads(key), yield* reads(test.body.key), yield* reads(brand.testSecretKey)],
          [200, 200, 401]
        )
      })
    )
  })
})
