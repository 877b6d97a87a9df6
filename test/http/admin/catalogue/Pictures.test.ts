import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { createConnection } from "node:net"
import sharp from "sharp"
import { picturesMax } from "../../../../src/domain/catalogue/Picture.ts"
import { png, pngOf } from "../../../support/picture.ts"
import { asServer, layer as usherLayer, Usher } from "../../support/usherFixture.ts"

/** Sends a file as the brand's server. */
const upload = Effect.fnUntraced(function* (body: Uint8Array, type = "image/png", more: object = {}) {
  const { admin, brand } = yield* Usher
  const headers = { ...asServer(brand.secretKey), "content-type": type, ...more }
  return yield* admin({ method: "POST", path: "/api/pictures", headers, body })
})

/** Sends a request as the brand's server, in test mode if told. */
const byBrand = Effect.fnUntraced(function* (method: string, path: string, body?: object, isTest = false) {
  const { admin, brand } = yield* Usher
  const key = isTest ? brand.testSecretKey : brand.secretKey
  return yield* admin({ method, path: `/api${path}`, headers: asServer(key), ...(body && { body }) })
})

/** Reads what a listener answers, with its bytes. */
const read = (url: string, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const response = await fetch(url, { headers })
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
  })

const problemOf = ({ body }: { readonly body: any }) => body.issues?.[0]?.message

describe("An uploaded picture", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("is stored as WebP, and served on both listeners as a picture and nothing else", () =>
      Effect.gen(function* () {
        const { consumerUrl, adminUrl } = yield* Usher
        const { status, body } = yield* upload(png)
        assert.strictEqual(status, 201)
        const { id, url, bytes, createdAt, createdBy, ...rest } = body
        assert.deepStrictEqual(rest, { width: 8, height: 6, contentType: "image/webp" })
        assert.strictEqual(url, `/pictures/${id}`)
        assert.match(createdAt, /^\d{4}-/)
        assert.isString(createdBy)
        for (const listener of [consumerUrl, adminUrl]) {
          const served = yield* read(`${listener}${url}`)
          assert.strictEqual(served.status, 200)
          assert.strictEqual(served.bytes.length, bytes)
          const header = yield* Effect.promise(() => sharp(served.bytes).metadata())
          assert.deepStrictEqual([header.format, header.width, header.height], ["webp", 8, 6])
          const shown = (name: string) => served.headers.get(name)
          assert.strictEqual(shown("content-type"), "image/webp")
          assert.strictEqual(shown("cache-control"), "public, max-age=31536000, immutable")
          assert.strictEqual(shown("x-content-type-options"), "nosniff")
          assert.strictEqual(shown("content-security-policy"), "default-src 'none'; sandbox")
          assert.strictEqual(shown("cross-origin-resource-policy"), "cross-origin")
          assert.isNull(shown("set-cookie"))
          const again = yield* read(`${listener}${url}`, { "if-none-match": shown("etag")! })
          assert.deepStrictEqual([again.status, again.bytes.length], [304, 0])
        }
      })
    )

    it.effect("is found, listed and removed by its own tenant alone, and the audit log names who did it", () =>
      Effect.gen(function* () {
        const { body: picture } = yield* upload(pngOf(9, 9))
        assert.deepStrictEqual((yield* byBrand("GET", `/pictures/${picture.id}`)).body, picture)
        assert.deepInclude((yield* byBrand("GET", "/pictures?first=100")).body.data, picture)
        for (const method of ["GET", "DELETE"]) {
          const answer = yield* byBrand(method, `/pictures/${picture.id}`, undefined, true)
          assert.deepStrictEqual([answer.status, answer.body.error], [404, "Picture not found"])
        }
        assert.deepStrictEqual((yield* byBrand("DELETE", `/pictures/${picture.id}`)).body, picture)
        assert.strictEqual((yield* byBrand("GET", `/pictures/${picture.id}`)).status, 404)
        const { body: log } = yield* byBrand("GET", `/audit-log?subjectId=${picture.id}`)
        const shown = { bytes: picture.bytes, contentType: "image/webp", height: 9, width: 9 }
        assert.deepStrictEqual(
          log.data.map(({ type, actor, before, after }: any) => ({ type, actor, before, after })),
          [
            { type: "picture.created", actor: picture.createdBy, before: {}, after: shown },
            { type: "picture.removed", actor: picture.createdBy, before: shown, after: {} }
          ]
        )
      })
    )

    it.effect("is not removed while a record names it", () =>
      Effect.gen(function* () {
        const { body: picture } = yield* upload(png)
        const theme = { logoUrl: picture.url }
        const { body: experience } = yield* byBrand("POST", "/experiences", { name: "Drop", theme })
        const refused = yield* byBrand("DELETE", `/pictures/${picture.id}`)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "PICTURE_IN_USE"])
        yield* byBrand("PUT", `/experiences/${experience.id}`, { theme: null })
        const { body: product } = yield* byBrand("POST", "/products", {
          name: "Shoe",
          pictures: [{ url: picture.url }]
        })
        assert.strictEqual((yield* byBrand("DELETE", `/pictures/${picture.id}`)).status, 409)
        yield* byBrand("PUT", `/products/${product.id}`, { productMediaAssets: [] })
        assert.strictEqual((yield* byBrand("DELETE", `/pictures/${picture.id}`)).status, 200)
      })
    )

    it.effect("is refused if it is no picture, too large, or said to be something else than a picture", () =>
      Effect.gen(function* () {
        const noPicture = yield* upload(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"))
        assert.strictEqual(noPicture.status, 400)
        assert.strictEqual(problemOf(noPicture), "Invalid value: Expected a PNG, JPEG, WebP or AVIF picture")
        const empty = yield* upload(Buffer.alloc(0))
        assert.deepStrictEqual([empty.status, problemOf(empty)], [400, "Invalid value: Expected a file"])
        for (const type of ["image/svg+xml", "text/html", "application/json", "multipart/form-data"]) {
          const answer = yield* upload(png, type)
          assert.strictEqual(answer.status, 415, type)
          assert.match(answer.body.error, /^Content-Type must be image\/png, /)
        }
        const large = yield* upload(Buffer.alloc(5_000_001, 1))
        assert.deepStrictEqual([large.status, large.body.error], [413, "Request body is larger than 5 MB"])
        assert.strictEqual((yield* upload(pngOf(8, 6), "image/jpeg; charset=binary")).status, 201)
        assert.strictEqual((yield* upload(png, "image/png", { expect: "100-continue" })).status, 201)
      })
    )

    it.effect("that is sent in pieces without an end is refused once it is too large", () =>
      Effect.gen(function* () {
        const { adminUrl, brand } = yield* Usher
        const answer = yield* Effect.callback<string>((resume) => {
          const { hostname, port } = new URL(adminUrl)
          const socket = createConnection({ host: hostname, port: Number(port) })
          let text = ""
          const done = () => resume(Effect.succeed(text))
          socket.on("data", (bytes) => (text += bytes))
          socket.on("error", done)
          socket.on("close", done)
          socket.write(
            `POST /api/pictures HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${brand.secretKey}\r\n` +
              "content-type: image/png\r\ntransfer-encoding: chunked\r\n\r\n"
          )
          const piece = Buffer.alloc(1_000_000)
          for (let sent = 0; sent < 6; sent++) {
            socket.write("f4240\r\n")
            socket.write(piece)
            socket.write("\r\n")
          }
        })
        assert.match(text(answer), /^HTTP\/1\.1 413 /)
      })
    )

    it.effect("that is sent again with its key is stored once, and another file with the key is refused", () =>
      Effect.gen(function* () {
        const key = { "idempotency-key": randomUUID() }
        // Both are the same text once what is not UTF-8 is replaced.
        const [one, other] = [pngOf(5, 5), pngOf(5, 5)]
        other[other.length - 1] = other.at(-1)! ^ 1
        const first = yield* upload(one, "image/png", key)
        const again = yield* upload(one, "image/png", key)
        assert.deepStrictEqual([first.status, again.status], [201, 201])
        assert.deepStrictEqual(again.body, first.body)
        assert.strictEqual(again.headers["idempotency-replayed"], "true")
        const reused = yield* upload(other, "image/png", key)
        assert.deepStrictEqual([reused.status, reused.body.code], [409, "IDEMPOTENCY_KEY_REUSED"])
      })
    )

    it.effect("is refused once the organization has as many as it may have", () =>
      Effect.gen(function* () {
        const { admin, stranger } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          insert into pictures (id, organization_id, mode, content_type, width, height, size, bytes, created_at, created_by)
          select gen_random_uuid(), ${stranger.organizationId}, 'live', 'image/webp', 1, 1, 1, '', now(), 'test'
          from generate_series(1, ${picturesMax})`
        const send = (secretKey: string) =>
          admin({
            method: "POST",
            path: "/api/pictures",
            headers: { ...asServer(secretKey), "content-type": "image/png" },
            body: png
          })
        const refused = yield* send(stranger.secretKey)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "PICTURE_LIMIT"])
        assert.strictEqual((yield* send(stranger.testSecretKey)).status, 201)
      })
    )

    it.effect("of another id, or of none, is not found, and the answer may be kept by nobody", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        for (const id of [randomUUID(), "x", "..%2f..%2fetc", `${randomUUID()}.svg`]) {
          const { status, headers } = yield* read(`${consumerUrl}/pictures/${id}`)
          assert.deepStrictEqual([status, headers.get("cache-control")], [404, "no-store"], id)
        }
      })
    )
  })
})

const text = (answer: string): string => answer.split("\r\n")[0] ?? ""
