/**
 * The description of an API and its reference page: built once, served from memory, and restricted by a content
 * security policy.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { HttpServerRequest } from "effect/http"
import { createHash } from "node:crypto"
import { type IncomingHttpHeaders, request } from "node:http"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import * as Documents from "../../../src/http/server/Documents.ts"
import * as Server from "../../../src/http/server/Server.ts"
import * as System from "../../../src/http/server/System.ts"
import { withinMinute } from "../limits/withinMinute.ts"
import { layerWith } from "../support/listenerFixture.ts"
import { send } from "../support/usherFixture.ts"

/** Returns the listener's response with its raw bytes. */
const get = (path: string, headers: { readonly [name: string]: string } = {}, method = "GET") =>
  Effect.flatMap(Server.Listeners, ({ consumerUrl }) =>
    Effect.callback<{ readonly status: number; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }>(
      (resume) => {
        const outgoing = request(new URL(path, consumerUrl), { method, agent: false, headers }, (response) => {
          const chunks: Array<Buffer> = []
          response.on("data", (chunk) => chunks.push(chunk))
          response.on("end", () =>
            resume(
              Effect.succeed({ status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) })
            )
          )
        })
        outgoing.on("error", (error) => resume(Effect.die(error)))
        outgoing.end()
      }
    )
  )

const documents = ["/docs", "/openapi.json"]

/** Bytes of a page. */
const pageBytesMax = 1_000_000

describe("A document", () => {
  layer(layerWith(System.layer(ConsumerApi, "public")), { excludeTestServices: true })((it) => {
    it.effect("is a 429 for an address that asks too often, and not for another address", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Server.Listeners
        const call = (path: string, localAddress: string, headers = {}) =>
          send(consumerUrl, { path, localAddress, headers })
        for (const path of documents) assert.strictEqual((yield* call(path, "127.0.0.4")).status, 200)
        yield* withinMinute(20)
        const statuses = yield* Effect.forEach(
          Array.from({ length: 220 }, (_, index) => documents[index % 2]!),
          (path) => Effect.map(call(path, "127.0.0.2", { "if-none-match": "*" }), ({ status }) => ({ path, status })),
          { concurrency: 4 }
        )
        const sent = (wanted: string) => statuses.filter(({ path, status }) => path === wanted && status === 304).length
        assert.deepStrictEqual(documents.map(sent), [100, 110], "the description has no limit")
        const refused = yield* call("/docs", "127.0.0.2")
        assert.deepStrictEqual([refused.status, refused.body.error], [429, "Rate limit exceeded"])
        assert.strictEqual(refused.headers["retry-after"], `${refused.body.retryAfter}`)
        assert.strictEqual((yield* call("/docs", "127.0.0.3")).status, 200)
      })
    )

    it.effect("has the best coding that the caller accepts, and the same content in each", () =>
      Effect.gen(function* () {
        for (const path of documents) {
          const plain = yield* get(path)
          assert.isUndefined(plain.headers["content-encoding"])
          const cases = [
            ["gzip, deflate, br, zstd", "br"],
            ["br;q=0.5, gzip", "br"],
            ["GZIP", "gzip"],
            ["gzip;q=1.0, br;q=0", "gzip"],
            ["deflate", undefined],
            ["identity, gzip; q=0.0", undefined]
          ] as const
          for (const [taken, coding] of cases) {
            const { status, headers, bytes } = yield* get(path, { "accept-encoding": taken })
            assert.deepStrictEqual([status, headers["content-encoding"]], [200, coding], taken)
            assert.strictEqual(headers.vary, "Accept-Encoding")
            assert.strictEqual(headers["content-length"], `${bytes.length}`)
            const decoded =
              coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes
            assert.isTrue(decoded.equals(plain.bytes), `${path} ${taken}`)
            if (coding !== undefined) assert.isBelow(bytes.length, plain.bytes.length / 3)
          }
        }
      })
    )

    it.effect("may be cached for a while, and is not sent again to a caller that has it", () =>
      Effect.gen(function* () {
        for (const path of documents) {
          const { headers } = yield* get(path)
          assert.strictEqual(headers["cache-control"], "public, max-age=300")
          assert.strictEqual(headers["x-content-type-options"], "nosniff")
          const etag = headers.etag!
          for (const known of [etag, `"another", ${etag}`, etag.replace("W/", ""), "*"]) {
            const again = yield* get(path, { "if-none-match": known, "accept-encoding": "br" })
            assert.deepStrictEqual([again.status, again.bytes.length, again.headers.etag], [304, 0, etag], known)
          }
          assert.strictEqual((yield* get(path, { "if-none-match": 'W/"another"' })).status, 200)
          const head = yield* get(path, {}, "HEAD")
          assert.deepStrictEqual([head.status, head.bytes.length, head.headers.etag], [200, 0, etag])
        }
      })
    )
  })

  it.effect("is built once, also if the first caller disconnects meanwhile", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const proceed = yield* Deferred.make<void>()
      let made = 0
      const answer = (yield* Documents.serve(
        Effect.gen(function* () {
          made++
          yield* Deferred.succeed(begun, undefined)
          yield* Deferred.await(proceed)
          return { text: "{}", contentType: "application/json" }
        })
      )).pipe(
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(new Request("http://localhost"))
        )
      )
      const first = yield* Effect.forkChild(answer)
      yield* Deferred.await(begun)
      const second = yield* Effect.forkChild(answer, { startImmediately: true })
      const gone = yield* Effect.forkChild(Fiber.interrupt(first), { startImmediately: true })
      yield* Deferred.succeed(proceed, undefined)
      yield* Fiber.join(gone)
      assert.deepStrictEqual([(yield* Fiber.join(second)).status, (yield* answer).status, made], [200, 200, 1])
    })
  )
})

describe("The reference page", () => {
  layer(layerWith(System.layer(ConsumerApi, "public")), { excludeTestServices: true })((it) => {
    it.effect("allows a browser its own style, and nothing else", () =>
      Effect.gen(function* () {
        const { headers, bytes } = yield* get("/docs")
        const policy = new Map(
          `${headers["content-security-policy"]}`.split("; ").map((directive) => {
            const [name, ...values] = directive.split(" ")
            return [name!, values] as const
          })
        )
        assert.deepStrictEqual(policy.get("default-src"), ["'none'"])
        for (const name of ["base-uri", "form-action", "frame-ancestors"]) {
          assert.deepStrictEqual(policy.get(name), ["'none'"], name)
        }
        const html = bytes.toString()
        const [, style] = /<style>([^]*?)<\/style>/.exec(html)!
        assert.deepStrictEqual(policy.get("style-src"), [
          `'sha256-${createHash("sha256").update(style!).digest("base64")}'`
        ])
        assert.notInclude(html, "<script")
        assert.notMatch(`${headers["content-security-policy"]}`, /https?:|\*|unsafe-eval/)
      })
    )

    it.effect("has a page for each group, and each operation on one, with all that its schemas name", () =>
      Effect.gen(function* () {
        const { tags, paths } = JSON.parse((yield* get("/openapi.json")).bytes.toString())
        const index = (yield* get("/docs")).bytes.toString()
        const addresses = [...new Set([...index.matchAll(/href="(\/docs\/[a-z-]+)[#"]/g)].map(([, path]) => path!))]
        assert.lengthOf(addresses, tags.length)
        let shown = ""
        for (const address of addresses) {
          const { status, bytes } = yield* get(address)
          assert.strictEqual(status, 200, address)
          const html = bytes.toString()
          assert.isBelow(bytes.length, pageBytesMax, address)
          const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!)
          assert.strictEqual(new Set(ids).size, ids.length, address)
          const links = [...html.matchAll(/ href="#([^"]*)"/g)].map(([, id]) => id!)
          assert.includeMembers(ids, links, address)
          shown += html
        }
        for (const [path, methods] of Object.entries<object>(paths))
          for (const method of Object.keys(methods)) assert.include(shown, `>${method.toUpperCase()} ${path}<`)
      })
    )
  })
})
