import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import {
  aMediaAsset,
  anOffer,
  anOption,
  aProduct,
  aSyncSource,
  aVariant,
  listed,
  notFoundAt,
  unknown
} from "./catalogueFixture.ts"

const notFound = [404, "Product not found"]

describe("Products on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("get pictures by their addresses, and sizes by their names, when they are created and changed", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const urls = (answer: { readonly body: any }) =>
          answer.body.productMediaAssets.map(({ mediaAsset }: any) => mediaAsset.publicUrl.at(-1))
        const { id: mediaAssetId } = yield* aMediaAsset({ publicUrl: "https://cdn.example/1" })
        const created = yield* call("POST", "/products", {
          name: "Sneaker",
          productMediaAssets: [{ mediaAssetId, position: 7 }],
          pictures: [{ url: "https://cdn.example/2", altText: "Side" }],
          variants: [{ options: [{ option: "Size", value: "42" }] }]
        })
        assert.deepStrictEqual(urls(created), ["1", "2"])
        const { id } = created.body
        assert.deepStrictEqual(
          urls(yield* call("PUT", `/products/${id}`, { pictures: [{ url: "https://cdn.example/3" }] })),
          ["1", "2", "3"]
        )
        const replaced = { productMediaAssets: [], pictures: [{ url: "https://cdn.example/4" }] }
        assert.deepStrictEqual(urls(yield* call("PUT", `/products/${id}`, replaced)), ["4"])
        const [{ options }] = created.body.variants
        const [{ optionId, valueId }] = options
        const again = yield* aVariant({ productId: id, options: [{ option: "Size", value: "42" }] })
        assert.deepInclude(again.options[0], { optionId, valueId })
        const changed = yield* call("PUT", `/variants/${again.id}`, { options: [{ option: "Size", value: "43" }] })
        assert.deepInclude(changed.body.options[0], { optionId, value: "43" })
        const twice = [
          { optionId, valueId },
          { option: "Size", value: "44" }
        ]
        assert.strictEqual((yield* call("PUT", `/variants/${again.id}`, { options: twice })).status, 400)
        const theirs = yield* call(
          "POST",
          "/products",
          {
            name: "Theirs",
            variants: [{ options: [{ option: "Size", value: "42" }] }]
          },
          stranger
        )
        assert.notStrictEqual(theirs.body.variants[0].options[0].optionId, optionId)
      })
    )

    it.effect("return every field, null where nothing is set, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const created = yield* aProduct()
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = created
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          name: "Sneaker",
          url: null,
          handle: null,
          description: null,
          defaultVariantId: null,
          metadata: null,
          primaryExternalId: null,
          primarySourceVendor: null,
          primarySyncSourceId: null,
          primaryLastSyncedAt: null,
          primarySyncSource: null,
          productMediaAssets: [],
          variants: [],
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        const source = yield* aSyncSource()
        const settings = {
          url: "https://shop.example/sneaker",
          handle: "sneaker",
          description: "Limited to 100 pairs",
          metadata: { season: ["spring"] },
          primaryExternalId: "gid://1",
          primarySourceVendor: "shopify",
          primarySyncSourceId: source.id,
          primaryLastSyncedAt: "2026-11-21T18:00:00.000Z"
        }
        const changed = yield* call("PUT", `/products/${id}`, settings)
        assert.deepInclude(changed.body, { ...settings, name: "Sneaker", primarySyncSource: source, createdAt })
        const reset = yield* call("PUT", `/products/${id}`, { name: "Boot", metadata: null, primarySyncSourceId: null })
        const gone = { metadata: null, primarySyncSourceId: null, primarySyncSource: null }
        assert.deepInclude(reset.body, { ...settings, ...gone, name: "Boot" })
        assert.deepStrictEqual((yield* call("GET", `/products/${id}`)).body, reset.body)
      })
    )

    it.effect("are created together with variants, options and media, each in its order", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const [front, side] = [yield* aMediaAsset({ name: "Front" }), yield* aMediaAsset({ name: "Side" })]
        const source = yield* aSyncSource()
        const { optionId, valueIds } = yield* anOption("Size", ["41", "42"])
        const metadata = { limited: true }
        const product = yield* aProduct({
          primarySyncSourceId: source.id,
          variants: [
            { sku: "B", price: "120", options: [{ optionId, valueId: valueIds[1] }] },
            { sku: "A", inventoryQuantity: 5, inventoryPolicy: "deny", metadata, primarySyncSourceId: source.id },
            {}
          ],
          productMediaAssets: [
            { mediaAssetId: side.id, position: 7, purpose: "gallery" },
            { mediaAssetId: front.id },
            { mediaAssetId: side.id, purpose: null }
          ]
        })
        const { organizationId } = brand.tenant
        assert.deepStrictEqual(product.primarySyncSource, source)
        assert.strictEqual(product.defaultVariantId, product.variants[0].id)
        assert.deepStrictEqual(
          product.variants.map(({ sku }: any) => sku),
          ["B", "A", null]
        )
        assert.deepInclude(product.variants[0], { productId: product.id, price: "120", inventoryPolicy: "untracked" })
        assert.deepStrictEqual(product.variants[0].options, [
          { optionId, optionName: "Size", value: "42", valueId: valueIds[1] }
        ])
        const second = { inventoryQuantity: 5, inventoryPolicy: "deny", metadata, primarySyncSourceId: source.id }
        assert.deepInclude(product.variants[1], second)
        assert.deepStrictEqual(
          product.productMediaAssets.map(({ id: _, ...use }: any) => use),
          [
            { mediaAsset: front, mediaAssetId: front.id, position: 1, purpose: null },
            { mediaAsset: side, mediaAssetId: side.id, position: 2, purpose: null },
            { mediaAsset: side, mediaAssetId: side.id, position: 7, purpose: "gallery" }
          ].map((use) => ({ ...use, organizationId, productId: product.id }))
        )
        assert.deepStrictEqual((yield* call("GET", `/products/${product.id}`)).body, product)
        for (const variant of product.variants) {
          assert.deepStrictEqual((yield* call("GET", `/variants/${variant.id}`)).body, variant)
        }
      })
    )

    it.effect("are created completely or not at all, and each bad reference is named", () =>
      Effect.gen(function* () {
        const { call, organization, stranger, rehearsal } = yield* Admin
        const as = yield* organization()
        const [theirs, test] = [yield* aMediaAsset({}, stranger), yield* aSyncSource({}, rehearsal)]
        const mine = yield* aMediaAsset({}, as)
        const archived = yield* aMediaAsset({}, as)
        yield* call("DELETE", `/media-assets/${archived.id}`, undefined, as)
        const size = yield* anOption("Size", ["41"], as)
        const option = { optionId: size.optionId, valueId: size.valueIds[0] }
        const refused = yield* call(
          "POST",
          "/products",
          {
            name: "Sneaker",
            defaultVariantId: unknown,
            primarySyncSourceId: test.id,
            productMediaAssets: [theirs.id, mine.id, archived.id, unknown].map((mediaAssetId) => ({ mediaAssetId })),
            variants: [
              { sku: "A", options: [option] },
              { sku: "B", primarySyncSourceId: unknown },
              { sku: "C", options: [option, { ...option, valueId: unknown }] }
            ]
          },
          as
        )
        assert.deepStrictEqual(issuesOf(refused), [
          "defaultVariantId: picklist",
          "primarySyncSourceId: picklist",
          "productMediaAssets.0.mediaAssetId: picklist",
          "productMediaAssets.2.mediaAssetId: picklist",
          "productMediaAssets.3.mediaAssetId: picklist",
          "variants.1.primarySyncSourceId: picklist",
          "variants.2.options.1.optionId: picklist",
          "variants.2.options.1.valueId: picklist"
        ])
        assert.deepStrictEqual(yield* listed("/products", "id", as), [])
        assert.deepStrictEqual(yield* listed("/variants", "id", as), [])
      })
    )

    it.effect("refuse malformed fields, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const created = yield* aProduct({ variants: [{}] })
        const { id: mediaAssetId } = yield* aMediaAsset()
        const use = { mediaAssetId }
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ name: "", url: 1 }, ["name: min_length", "url: string"]],
          [{ name: null }, ["name: string"]],
          [
            { url: "x".repeat(2_001), handle: "x".repeat(201) },
            ["handle: max_length", "url: max_length", "url: string"]
          ],
          [{ description: "x".repeat(10_001) }, ["description: max_length"]],
          [{ defaultVariantId: "first" }, ["defaultVariantId: uuid"]],
          [{ metadata: { a: "x".repeat(4_000) } }, ["metadata: max_length"]],
          [{ productMediaAssets: [use, {}] }, ["productMediaAssets.1.mediaAssetId: string"]],
          [{ productMediaAssets: [{ ...use, position: -1 }] }, ["productMediaAssets.0.position: min_value"]],
          [{ productMediaAssets: [{ ...use, position: 1_000_001 }] }, ["productMediaAssets.0.position: max_value"]],
          [
            { productMediaAssets: [{ ...use, purpose: "x".repeat(201) }] },
            ["productMediaAssets.0.purpose: max_length"]
          ],
          [{ productMediaAssets: Array.from({ length: 51 }, () => use) }, ["productMediaAssets: max_length"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const creation = yield* call("POST", "/products", { name: "x", ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, JSON.stringify(mistake))
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/products/${created.id}`, mistake)), expected)
        }
        const variants = [{ price: 1 }, {}, { inventoryPolicy: "x", options: [{}] }]
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/products", { variants })), [
          "name: string",
          "variants.0.price: amount",
          "variants.2.inventoryPolicy: picklist",
          "variants.2.options.0.optionId: string",
          "variants.2.options.0.valueId: string"
        ])
        const many = { name: "x", variants: Array.from({ length: 101 }, () => ({})) }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/products", many)), ["variants: max_length"])
        assert.deepStrictEqual((yield* call("GET", `/products/${created.id}`)).body, created)
      })
    )

    it.effect("take only one of their own variants as default, and replace media as a whole", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const product = yield* aProduct({ variants: [{}, {}] })
        const other = yield* aProduct({ variants: [{}] })
        const [front, side] = [yield* aMediaAsset({ name: "Front" }), yield* aMediaAsset({ name: "Side" })]
        const path = `/products/${product.id}`
        const second = product.variants[1].id
        const productMediaAssets = [{ mediaAssetId: side.id }, { mediaAssetId: front.id }]
        const changed = yield* call("PUT", path, { defaultVariantId: second, productMediaAssets })
        assert.strictEqual(changed.body.defaultVariantId, second)
        const media = (body: any) => body.productMediaAssets.map(({ mediaAsset }: any) => mediaAsset.name)
        assert.deepStrictEqual(media(changed.body), ["Side", "Front"])
        yield* call("DELETE", `/variants/${product.variants[0].id}`)
        for (const defaultVariantId of [other.variants[0].id, product.variants[0].id, unknown]) {
          const refused = yield* call("PUT", path, { defaultVariantId, productMediaAssets: [], name: "x" })
          assert.deepStrictEqual(issuesOf(refused), ["defaultVariantId: picklist"])
        }
        const kept = yield* call("PUT", path, { name: "Boot" })
        assert.deepStrictEqual([kept.body.defaultVariantId, media(kept.body)], [second, ["Side", "Front"]])
        const late = yield* aVariant({ productId: product.id })
        assert.deepInclude((yield* call("PUT", path, { defaultVariantId: late.id })).body, {
          defaultVariantId: late.id
        })
        const reset = yield* call("PUT", path, { defaultVariantId: null, productMediaAssets: null })
        assert.deepStrictEqual([reset.body.defaultVariantId, media(reset.body)], [null, []])
      })
    )

    it.effect("are sorted by age, name and last change, and found by name and handle", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const bees = yield* aProduct({ name: "Bees", handle: "honey-100%", variants: [{ sku: "B" }] }, as)
        yield* aProduct({ name: "Cats" }, as)
        yield* aProduct({ name: "Ants" }, as)
        yield* call("PUT", `/products/${bees.id}`, {}, as)
        const names = (query: string) => listed(`/products?${query}`, "name", as)
        assert.deepStrictEqual(yield* names(""), ["Bees", "Cats", "Ants"])
        assert.deepStrictEqual(yield* names("sortBy=name"), ["Ants", "Bees", "Cats"])
        assert.deepStrictEqual(yield* names("sortBy=updatedAt&last=1"), ["Bees"])
        assert.deepStrictEqual(yield* names("search=AT"), ["Cats"])
        assert.deepStrictEqual(yield* names("search=oney-"), ["Bees"])
        assert.deepStrictEqual(yield* names("search=0%25"), ["Bees"])
        assert.deepStrictEqual(yield* names("search=y_1"), [])
        const { body } = yield* call("GET", "/products?sortBy=name&first=2", undefined, as)
        assert.deepStrictEqual(
          body.data.map(({ variants }: any) => variants.map(({ sku }: any) => sku)),
          [[], ["B"]]
        )
        assert.deepStrictEqual(yield* names(`sortBy=name&after=${body.pageInfo.endCursor}`), ["Cats"])
        assert.deepStrictEqual(issuesOf(yield* call("GET", "/products?sortBy=handle", undefined, as)), [
          "sortBy: picklist"
        ])
      })
    )

    it.effect("are archived with their variants, except while an experience offers them", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const product = yield* aProduct({ variants: [{}, {}] })
        const path = `/products/${product.id}`
        const experienceId = yield* anOffer(product.id)
        const refused = yield* call("DELETE", path)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "PRODUCT_IN_USE"])
        for (const who of [stranger, rehearsal]) {
          assert.deepStrictEqual(yield* notFoundAt(path, { name: "Mine" }, who), [notFound, notFound, notFound])
        }
        yield* call("DELETE", `/experiences/${experienceId}`)
        const archived = yield* call("DELETE", path)
        assert.deepInclude(archived.body, { id: product.id, archived: true })
        assert.deepStrictEqual(
          archived.body.variants.map(({ id, archived }: any) => [id, archived]),
          product.variants.map(({ id }: any) => [id, true])
        )
        assert.deepStrictEqual(yield* notFoundAt(path, { name: "x" }), [notFound, notFound, notFound])
        assert.notInclude(yield* listed("/products?first=100", "id"), product.id)
        for (const { id } of product.variants) {
          assert.strictEqual((yield* call("GET", `/variants/${id}`)).status, 404)
        }
        const rows = yield* sql`select archived from product_variants where product_id = ${product.id}`
        assert.deepStrictEqual(rows, [{ archived: true }, { archived: true }])
      })
    )
  })
})
