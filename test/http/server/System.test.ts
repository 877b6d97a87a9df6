import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { asConsumer, Usher } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"

describe("Outside /api", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    const onBoth = Effect.map(Usher, ({ consumer, admin }) => [consumer, admin] as const)

    it.effect("both listeners report health and readiness without credentials", () =>
      Effect.gen(function* () {
        for (const call of yield* onBoth) {
          const health = yield* call({ path: "/health" })
          assert.deepStrictEqual([health.status, health.body], [200, { status: "ok" }])
          const ready = yield* call({ path: "/ready" })
          assert.deepStrictEqual([ready.status, ready.body], [200, { status: "ready" }])
        }
      })
    )

    it.effect("both serve their description and a reference without external resources", () =>
      Effect.gen(function* () {
        for (const call of yield* onBoth) {
          const { body, headers } = yield* call({ path: "/openapi.json" })
          assert.match(headers["content-type"]!, /^application\/json/)
          assert.match(body.openapi, /^3\.1\./)
          assert.strictEqual(body.info.version, "1.0.0")
          const docs = yield* call({ path: "/docs" })
          assert.strictEqual(docs.status, 200)
          assert.match(docs.headers["content-type"]!, /^text\/html/)
          assert.include(docs.text, body.info.title)
          assert.notMatch(docs.text, /<(script|link)[^>]+(src|href)=["']https?:/)
        }
      })
    )

    it.effect("both name their groups of operations in plain words", () =>
      Effect.gen(function* () {
        for (const call of yield* onBoth) {
          const { tags, paths } = (yield* call({ path: "/openapi.json" })).body
          const names: ReadonlyArray<string> = tags.map(({ name }: { readonly name: string }) => name)
          assert.include(names, "Timed releases")
          for (const name of names) assert.match(name, /^(API|[A-Z][a-z]+)( [a-z]+)*$/)
          assert.strictEqual(new Set(names).size, names.length)
          for (const operations of Object.values<object>(paths)) {
            for (const operation of Object.values(operations))
              assert.includeMembers(names as Array<string>, operation.tags)
          }
        }
      })
    )

    it.effect("only the consumer listener serves the public signing keys, without private parts", () =>
      Effect.gen(function* () {
        const { consumer, admin } = yield* Usher
        const { status, body } = yield* consumer({ path: "/.well-known/jwks.json" })
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(Object.keys(body.keys[0]).toSorted(), ["alg", "crv", "kid", "kty", "use", "x"])
        assert.strictEqual((yield* admin({ path: "/.well-known/jwks.json" })).status, 404)
      })
    )

    it.effect("the description lists every status of an operation", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue, brand } = yield* Usher
        const { paths, components } = (yield* consumer({ path: "/openapi.json" })).body
        const documented = (method: string, path: string) => Object.keys(paths[path][method].responses)
        const enter = documented("post", "/api/queues/{queueId}/enter")
        assert.deepStrictEqual(enter, ["200", "400", "401", "403", "404", "409", "423", "429", "500", "503"])
        const deny = documented("post", "/api/queues/{queueId}/deny")
        assert.deepStrictEqual(deny, ["200", "400", "401", "403", "404", "409", "413", "415", "429", "500", "503"])
        assert.deepStrictEqual(documented("post", "/api/auth/guest"), ["200", "400", "401", "403", "429", "500", "503"])
        assert.deepStrictEqual(documented("get", "/api/queues/{queueId}"), [
          "200",
          "400",
          "401",
          "403",
          "404",
          "429",
          "500",
          "503"
        ])
        for (const status of ["423", "503", "409"]) {
          const { headers } = paths["/api/queues/{queueId}/enter"].post.responses[status]
          assert.isDefined(headers["Retry-After"], status)
        }
        assert.deepStrictEqual(paths["/api/queues/{queueId}/enter"].post.security, [
          { publishableKey: [], accessToken: [] },
          { secretKey: [], consumerId: [] }
        ])
        assert.deepStrictEqual(paths["/api/queues/{queueId}/deny"].post.security, [{ secretKey: [] }])
        assert.deepStrictEqual(Object.keys(components.securitySchemes).toSorted(), [
          "accessToken",
          "consumerId",
          "gateKey",
          "publishableKey",
          "secretKey"
        ])
        const queueId = yield* queue({ capacity: 1 })
        const { accessToken } = yield* guest()
        const { status } = yield* consumer({
          method: "POST",
          path: `/api/queues/${queueId}/enter`,
          headers: asConsumer(brand.publishableKey, accessToken)
        })
        assert.include(enter, `${status}`)
      })
    )

    it.effect("both descriptions list the refusal of plain HTTP on every operation", () =>
      Effect.gen(function* () {
        for (const call of yield* onBoth) {
          const { paths, components } = (yield* call({ path: "/openapi.json" })).body
          const refusal = { $ref: "#/components/schemas/HttpsRequiredEncoded" }
          assert.deepStrictEqual(components.schemas.HttpsRequiredEncoded.properties.error.enum, ["HTTPS required"])
          for (const [path, operations] of Object.entries<object>(paths)) {
            for (const [method, operation] of Object.entries(operations)) {
              const { schema } = operation.responses["403"].content["application/json"]
              assert.deepInclude(schema.anyOf ?? [schema], refusal, `${method} ${path}`)
            }
          }
        }
      })
    )

    it.effect("the description of the Admin API requires the secret key, and nothing else, everywhere", () =>
      Effect.gen(function* () {
        const { admin } = yield* Usher
        const { paths, components } = (yield* admin({ path: "/openapi.json" })).body
        assert.deepStrictEqual(Object.keys(components.securitySchemes), ["secretKey"])
        for (const [path, operations] of Object.entries<object>(paths)) {
          for (const [method, operation] of Object.entries(operations)) {
            assert.deepStrictEqual(operation.security, [{ secretKey: [] }], `${method} ${path}`)
          }
        }
      })
    )

    const readyIs = Effect.fnUntraced(function* (status: number) {
      const { consumer } = yield* Usher
      return yield* consumer({ path: "/ready" }).pipe(
        Effect.repeat({ until: (answer) => answer.status === status, schedule: Schedule.spaced("50 millis") })
      )
    })

    it.effect("readiness is lost when a newer release has finished its upgrade of the schema", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update installation set schema_base = schema_base + 1000`
        const behind = yield* readyIs(503)
        assert.strictEqual(behind.body.error, "Service unavailable")
        assert.match(behind.body.reasons.database, /schema needs a release that knows step 10\d\d/)
        yield* sql`update installation set schema_base = schema_base - 1000`
        yield* readyIs(200)
      })
    )

    it.effect("an overdue mechanism is a remark with its delay, and does not affect readiness", () =>
      Effect.gen(function* () {
        const { consumer, queue } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const queueId = yield* queue()
        yield* sql`update mechanism_heads set wake_at = now() - interval '1 minute' where mechanism_id = ${queueId}`
        const late = yield* consumer({ path: "/ready" }).pipe(
          Effect.repeat({ until: ({ body }) => body.remarks !== undefined, schedule: Schedule.spaced("50 millis") })
        )
        assert.deepStrictEqual([late.status, late.body.status], [200, "ready"])
        assert.match(late.body.remarks["wake-ups"], /^overdue for 6\d s$/)
        yield* sql`update mechanism_heads set wake_at = null where mechanism_id = ${queueId}`
      })
    )
  })
})
