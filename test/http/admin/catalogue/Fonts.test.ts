import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { fontsMax } from "../../../../src/domain/catalogue/Font.ts"
import { woff2, woff2Of } from "../../../support/font.ts"
import { asServer, layer as usherLayer, Usher } from "../../support/usherFixture.ts"

const upload = Effect.fnUntraced(function* (body: Uint8Array, type = "font/woff2") {
  const { admin, brand } = yield* Usher
  return yield* admin({
    method: "POST",
    path: "/api/fonts",
    headers: { ...asServer(brand.secretKey), "content-type": type },
    body
  })
})

const byBrand = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const { admin, brand } = yield* Usher
  return yield* admin({ method, path: `/api${path}`, headers: asServer(brand.secretKey), ...(body && { body }) })
})

describe("An uploaded font", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("is served as it was sent, on both listeners, as a font and nothing else", () =>
      Effect.gen(function* () {
        const { consumerUrl, adminUrl } = yield* Usher
        const { status, body } = yield* upload(woff2)
        assert.strictEqual(status, 201)
        assert.deepInclude(body, { url: `/fonts/${body.id}`, contentType: "font/woff2", bytes: woff2.length })
        for (const listener of [consumerUrl, adminUrl]) {
          const response = yield* Effect.promise(() => fetch(`${listener}${body.url}`))
          assert.strictEqual(response.status, 200)
          assert.deepStrictEqual(Buffer.from(yield* Effect.promise(() => response.arrayBuffer())), woff2)
          const shown = (name: string) => response.headers.get(name)
          assert.strictEqual(shown("content-type"), "font/woff2")
          assert.strictEqual(shown("cache-control"), "public, max-age=31536000, immutable")
          assert.strictEqual(shown("x-content-type-options"), "nosniff")
          assert.strictEqual(shown("access-control-allow-origin"), "*")
        }
        const missing = yield* Effect.promise(() => fetch(`${consumerUrl}/fonts/0190a6e0-5c7e-4a10-8d7e-6f2f3b1c4d5e`))
        assert.strictEqual(missing.status, 404)
      })
    )

    it.effect("is refused with what is wrong with the file", () =>
      Effect.gen(function* () {
        const damaged = yield* upload(woff2.subarray(0, 100))
        assert.strictEqual(damaged.status, 400)
        assert.include(damaged.text, "Expected a font that is not damaged")
        assert.strictEqual((yield* upload(woff2Of({ size: 300_001 }))).status, 413)
        assert.strictEqual((yield* upload(woff2, "font/ttf")).status, 415)
      })
    )

    it.effect("is named by a look, and is then not removed", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const { body: font } = yield* upload(woff2)
        const wrong = yield* byBrand("POST", "/experiences", {
          name: "Drop",
          theme: { fontUrl: "https://cdn.example/font.woff2" }
        })
        assert.strictEqual(wrong.status, 400)
        const theme = { fontUrl: font.url, headingFontUrl: font.url, fontHeading: "Georgia, serif" }
        const { body: experience } = yield* byBrand("POST", "/experiences", { name: "Drop", theme })
        assert.strictEqual((yield* byBrand("DELETE", `/fonts/${font.id}`)).body.code, "FONT_IN_USE")
        const room = yield* consumer({ path: `/e/${experience.id}` })
        assert.include(room.headers["content-security-policy"], "font-src 'self'")
        assert.include(room.text, `<link rel="preload" as="font" type="font/woff2" href="${font.url}" crossorigin`)
        assert.include(room.text, `src:url(${font.url}) format("woff2");font-display:swap`)
        assert.include(room.text, "--font:usher-font,system-ui;--heading:usher-heading,Georgia, serif")
        yield* byBrand("PUT", `/experiences/${experience.id}`, { theme: null })
        assert.strictEqual((yield* byBrand("DELETE", `/fonts/${font.id}`)).status, 200)
        assert.strictEqual((yield* byBrand("GET", `/fonts/${font.id}`)).status, 404)
      })
    )

    it.effect("is one of so many", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* upload(woff2)
        yield* sql`
          insert into fonts select gen_random_uuid(), organization_id, mode, size, bytes, created_at, created_by
          from (select * from fonts limit 1) one, generate_series(1, ${fontsMax})`
        const full = yield* upload(woff2)
        assert.deepStrictEqual([full.status, full.body.code], [409, "FONT_LIMIT"])
      })
    )
  })
})
