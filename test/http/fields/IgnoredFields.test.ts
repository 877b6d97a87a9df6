/** The header that names the fields of a body that an operation of the Admin API has ignored. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { ReceivedDocument } from "../../../src/domain/experience/creative/Document.ts"
import { AdminApi } from "../../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import { headerOf, ignoredPaths, shapesIn } from "../../../src/http/fields/IgnoredFields.ts"
import * as Fixture from "../support/usherFixture.ts"
import { asServer, Usher } from "../support/usherFixture.ts"

const pathsIn = (schema: Schema.Top, body: unknown) => ignoredPaths(shapesIn([schema.ast]), body)

const Product = Schema.Struct({
  name: Schema.String,
  metadata: Schema.optionalKey(Schema.NullOr(Schema.Record(Schema.String, Schema.Json))),
  variants: Schema.optionalKey(Schema.Array(Schema.Struct({ sku: Schema.NullOr(Schema.String) })))
})

describe("The fields that a schema does not know", () => {
  it("are named with their paths, once for each name and place", () => {
    const variants = [{ sku: null }, { sku: "a", colour: 1 }, { colour: 2, size: 3 }]
    assert.deepStrictEqual(pathsIn(Product, { name: 1, picture: "x", variants }), [
      "picture",
      "variants[1].colour",
      "variants[2].size"
    ])
    assert.deepStrictEqual(pathsIn(Product, { name: "a", metadata: { any: { thing: [{}] } } }), [])
  })

  it("are none where any JSON is accepted, or the value has another type", () => {
    for (const body of [null, "text", 1, [], [{ a: 1 }], { variants: { sku: 1 } }, { variants: [null, "a"] }]) {
      assert.deepStrictEqual(pathsIn(Product, body), [], JSON.stringify(body))
    }
    assert.deepStrictEqual(pathsIn(Schema.Json, { a: { b: 1 } }), [])
    assert.deepStrictEqual(pathsIn(Schema.Union([Schema.Unknown, Product]), { a: 1 }), [])
  })

  it("depend on the alternative that the value's own literals choose", () => {
    const document = (body: object, others: object = {}) => ({
      schemaVersion: 1,
      editor: "email-components-v1",
      kind: "announcement-email",
      body,
      ...others
    })
    const nodes = [
      { type: "section", children: [{ type: "image", src: "a", alt: "b", picture: "c", level: 1 }], alt: "d" },
      { type: "button", href: "a", className: "b" }
    ]
    assert.deepStrictEqual(
      pathsIn(ReceivedDocument, document({ nodes, textTemplate: "" }, { themeOverrides: { logo: "a" } })),
      [
        "body.nodes[0].children[0].picture",
        "body.nodes[0].children[0].level",
        "body.nodes[0].alt",
        "body.nodes[1].className",
        "body.textTemplate",
        "themeOverrides.logo"
      ]
    )
    const free = { editor: "rich-content-v0", kind: "experience-page", body: { any: [{ thing: 1 }] }, title: "" }
    assert.deepStrictEqual(pathsIn(ReceivedDocument, free), ["title"])
  })

  it("have names of characters that a header and a path can have", () => {
    const names = ["a,b", "a.b", "ä", "line\r\nSet-Cookie: x", "\ud800", "[0]", "", "__proto__", "x".repeat(300)]
    const paths = ignoredPaths(shapesIn([Product.ast]), JSON.parse(`{${names.map((n) => `${JSON.stringify(n)}:1`)}}`))
    assert.deepStrictEqual(paths.slice(0, 4), ["a%2Cb", "a%2Eb", "%C3%A4", "line%0D%0ASet-Cookie%3A%20x"])
    for (const path of paths) assert.match(path, /^[\w%~!*'()-]*$/)
    assert.strictEqual(paths.at(-1), "x".repeat(100))
  })

  it("are at most twenty in a header of a kilobyte, and a last item says if there are more", () => {
    const bodyOf = (count: number, length = 3) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`${index}`.padStart(length, "x"), 0]))
    const headerFor = (body: object) => headerOf(pathsIn(Product, body))
    assert.isUndefined(headerFor({ name: "a" }))
    assert.lengthOf(headerFor(bodyOf(20))!.split(", "), 20)
    for (const count of [21, 500, 100_000]) {
      const items = headerFor(bodyOf(count))!.split(", ")
      assert.deepStrictEqual([items.length, items.at(-1)], [21, "..."], `${count}`)
    }
    for (const length of [40, 60, 100]) {
      const header = headerFor(bodyOf(20, length))!
      assert.isAtMost(header.length, 1_024)
      assert.strictEqual(header.endsWith(", ..."), length > 40)
    }
  })
})

describe("The Admin API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    const send = Effect.fnUntraced(function* (method: string, path: string, body: unknown, headers: object = {}) {
      const { admin, brand } = yield* Usher
      return yield* admin({ method, path: `/api${path}`, headers: { ...asServer(brand.secretKey), ...headers }, body })
    })

    it.effect("names ignored fields in successes, errors and repeated answers, and nothing in others", () =>
      Effect.gen(function* () {
        const named = (answer: { readonly headers: { readonly [name: string]: unknown } }) =>
          answer.headers["x-ignored-fields"]
        const created = yield* send("POST", "/products", {
          name: "Shoe",
          image: "https://a.example/a.png",
          variants: [{ sku: "1" }, { sku: "2", color: "red" }]
        })
        assert.deepStrictEqual([created.status, named(created)], [201, "image, variants[1].color"])
        const path = `/products/${created.body.id}`
        assert.isUndefined(named(yield* send("PUT", path, { name: "Shoe", metadata: { image: 1 } })))
        assert.isUndefined(named(yield* send("GET", path, undefined)))
        const malformed = yield* send("PUT", path, { name: 5, picture: "secret" })
        assert.deepStrictEqual([malformed.status, named(malformed)], [400, "picture"])
        const unknown = yield* send("PUT", "/products/0199c000-0000-7000-8000-000000000000", { name: "a", b: 1 })
        assert.deepStrictEqual([unknown.status, named(unknown)], [404, "b"])
        const key = { "idempotency-key": "ignored-fields" }
        for (const replayed of [undefined, "true"]) {
          const answer = yield* send("POST", "/sync-sources", { syncSource: "a", syncSourceId: "b", c: 1 }, key)
          assert.deepStrictEqual([answer.headers["idempotency-replayed"], named(answer)], [replayed, "c"])
        }
        const options = yield* send("POST", "/experiences", {
          name: "Drop",
          theme: { logo: "a" },
          i18n: { en: { a: 1 } }
        })
        assert.strictEqual(named(options), "theme.logo")
        const text = { "content-type": "text/plain" }
        assert.strictEqual((yield* send("POST", "/experiences", { nam: 1 }, text)).status, 415)
        const { admin } = yield* Usher
        const stranger = yield* admin({ method: "POST", path: "/api/products", headers: {}, body: { nam: 1 } })
        assert.deepStrictEqual([stranger.status, named(stranger)], [401, undefined])
      })
    )
  })

  it("describes the header once, and refers to it from every operation with a JSON body", () => {
    const { paths, components } = OpenApi.fromApi(AdminApi) as never as {
      readonly paths: { readonly [path: string]: { readonly [method: string]: Described } }
      readonly components: { readonly headers: object }
    }
    assert.deepStrictEqual(
      Object.keys(components.headers).filter((name) => /ignored/i.test(name)),
      ["X-Ignored-Fields"]
    )
    const reference = { $ref: "#/components/headers/X-Ignored-Fields" }
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, { requestBody, responses }] of Object.entries(operations)) {
        for (const [status, { headers = {} }] of Object.entries(responses)) {
          const isNamed =
            requestBody?.content["application/json"] !== undefined && !["401", "413", "415"].includes(status)
          assert.deepStrictEqual(headers["X-Ignored-Fields"], isNamed ? reference : undefined, `${method} ${path}`)
        }
      }
    }
    assert.notInclude(JSON.stringify(OpenApi.fromApi(ConsumerApi)), "X-Ignored-Fields")
  })
})

interface Described {
  readonly requestBody?: { readonly content: { readonly [type: string]: object } }
  readonly responses: { readonly [status: string]: { readonly headers?: { readonly [name: string]: unknown } } }
}
