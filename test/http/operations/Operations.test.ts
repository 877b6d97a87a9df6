import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { release } from "../../../src/domain/values/Release.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { backup } from "../../../src/store/archive/Backup.ts"
import { asConsumer, asServer, otherListeners, send, Usher } from "../support/usherFixture.ts"
import { ask, layer as operations, urlOf, valueIn, values } from "./operationsFixture.ts"

const tlsFile = (name: string) => fileURLToPath(new URL(`../server/tls/${name}.pem`, import.meta.url))
const tlsFiles = { tlsCertFile: tlsFile("certificate"), tlsKeyFile: tlsFile("key") }

const statusOf = (api: string, method: string, route: string, status: string) =>
  `usher_http_requests_total{api="${api}",method="${method}",route="${route}",status="${status}"}`

describe("OPERATIONS_PORT", () => {
  it.live("is off by default", () =>
    Effect.gen(function* () {
      assert.isUndefined(urlOf(yield* Layer.build(operations({ operationsPort: undefined }))))
    })
  )

  layer(operations({ operationsToken: Option.some(Redacted.make("the operator's token")) }), {
    excludeTestServices: true
  })("with a token", (it) => {
    it.effect("asks for it, except at /live", () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* ask("/live")).status, 200)
        for (const path of ["/metrics", "/metrics/mechanisms", "/ready", "/version"]) {
          const refused = yield* ask(path)
          assert.strictEqual(refused.status, 401)
          assert.strictEqual(refused.headers["www-authenticate"], "Bearer")
          assert.notInclude(refused.text, "usher_")
          assert.strictEqual((yield* ask(path, { authorization: "Bearer another" })).status, 401)
        }
      })
    )
  })

  it.live("shows how long the certificate of the APIs is valid", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(operations(tlsFiles))
      const { text } = yield* send(urlOf(context)!, { path: "/metrics" })
      const secondsLeft = valueIn(text, "usher_certificate_remaining_seconds")
      assert.closeTo(secondsLeft, (Date.UTC(2120, 0, 1) - Date.now()) / 1_000, 60)
    })
  )

  layer(operations(), { excludeTestServices: true })("without a token, on loopback", (it) => {
    it.effect("answers readiness and version, and nothing else", () =>
      Effect.gen(function* () {
        const ready = yield* ask("/ready")
        assert.deepStrictEqual([ready.status, ready.body.status], [200, "ready"])
        const { body } = yield* ask("/version")
        assert.deepInclude(body, { ...release, writtenLevel: 1 })
        assert.strictEqual((yield* ask("/api/queues")).status, 404)
      })
    )

    it.effect("counts requests of the direct path and of HttpApi under one route, with its template", () =>
      Effect.gen(function* () {
        const { brand, guest, queue } = yield* Usher
        const id = yield* queue()
        const { accessToken } = yield* guest()
        const headers = asConsumer(brand.publishableKey, accessToken)
        const { consumerUrl } = yield* Server.Listeners
        const complete = yield* otherListeners({ directPath: false })
        const enter = { method: "POST", path: `/api/queues/${id}/enter`, headers }
        const status = { path: `/api/queues/${id}/status`, headers }
        const series = [
          statusOf("consumer", "POST", "/api/queues/:queueId/enter", "2xx"),
          statusOf("consumer", "GET", "/api/queues/:queueId/status", "2xx"),
          'usher_http_request_duration_seconds_count{api="consumer",method="GET",route="/api/queues/:queueId/status"}',
          'usher_entries_total{kind="queue"}',
          'usher_places{kind="queue",status="QUEUED"}'
        ]
        const [entered, seen, timed, entries] = yield* values(...series)
        yield* send(consumerUrl, enter)
        yield* send(consumerUrl, status)
        const afterDirect = yield* values(...series.slice(0, 4))
        assert.deepStrictEqual(afterDirect, [entered! + 1, seen! + 1, timed! + 1, entries! + 1])
        yield* send(complete.consumerUrl, status)
        const [, seenAfterBoth] = yield* values(...series)
        assert.strictEqual(seenAfterBoth, seen! + 2)
        assert.notInclude((yield* ask("/metrics")).text, id)
      })
    )

    it.effect("counts refusals, unknown paths and answers of the Admin API", () =>
      Effect.gen(function* () {
        const { admin, brand, consumer } = yield* Usher
        const series = [
          statusOf("consumer", "none", "none", "4xx"),
          statusOf("admin", "GET", "/api/queues/:id", "4xx"),
          'usher_http_requests_in_flight{api="consumer"}'
        ]
        const [unknown, missing] = yield* values(...series)
        yield* consumer({ path: "/nothing/here" })
        yield* admin({ path: "/api/queues/0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", headers: asServer(brand.secretKey) })
        assert.deepStrictEqual(yield* values(...series), [unknown! + 1, missing! + 1, 0])
      })
    )

    it.effect("shows the mechanisms of one organization, and of no other", () =>
      Effect.gen(function* () {
        const { brand, queue, stranger } = yield* Usher
        const [own, other] = [yield* queue(), yield* queue({}, stranger.secretKey)]
        const { text } = yield* ask(`/metrics/mechanisms?organization=${brand.organizationId}`)
        assert.include(text, own)
        assert.notInclude(text, other)
        assert.strictEqual((yield* ask("/metrics/mechanisms?organization=all")).status, 400)
      })
    )

    it.effect("shows the age of a backup as soon as it is made", () =>
      Effect.gen(function* () {
        assert.strictEqual(
          (yield* ask("/metrics")).text.match(/^usher_backup_age_seconds .*$/m)?.[0],
          "usher_backup_age_seconds +Inf"
        )
        const path = join(mkdtempSync(join(tmpdir(), "usher-backup-")), "usher.tar")
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dirname(path), { recursive: true })))
        yield* backup({ path, usher: "test", onBegun: () => {}, onBytes: () => Effect.void })
        const [age] = yield* values("usher_backup_age_seconds")
        assert.isTrue(age! > 0 && age! < Infinity, `${age}`)
      }).pipe(Effect.scoped)
    )

    it.effect("shows the journal, the database and the process", () =>
      Effect.gen(function* () {
        yield* (yield* Usher).queue()
        const { text, headers } = yield* ask("/metrics")
        assert.strictEqual(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        assert.strictEqual(valueIn(text, "usher_database_writable"), 1)
        assert.strictEqual(valueIn(text, "usher_cluster_nodes"), 1)
        for (const name of ["usher_heap_used_bytes", "usher_resident_memory_bytes", "usher_uptime_seconds"]) {
          assert.isAbove(valueIn(text, name), 0, name)
        }
        for (const line of text.trimEnd().split("\n")) {
          assert.match(
            line,
            /^(?:# (?:HELP|TYPE) usher_\w+ .+|usher_\w+(?:\{(?:\w+="[^"\n]*",?)+\})? (?:[\d.e+-]+|\+Inf))$/
          )
        }
      })
    )
  })
})
