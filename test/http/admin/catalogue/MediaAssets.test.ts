import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import { aMediaAsset, aProduct, listed, notFoundAt } from "./catalogueFixture.ts"

const notFound = [404, "Media asset not found"]

describe("Media assets on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("return every field, null where nothing is set, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const created = yield* aMediaAsset()
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = created
        const settings = {
          altText: "A shoe from its side",
          description: "Studio",
          mimeType: "image/jpeg",
          publicUrl: "https://cdn.example/side.jpg",
          sourceUrl: "https://shop.example/side.jpg",
          thumbnailUrl: "https://cdn.example/side-small.jpg",
          uploadUrl: "https://upload.example/side"
        }
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          name: "Side view",
          ...Object.fromEntries(Object.keys(settings).map((field) => [field, null])),
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        const changed = yield* call("PUT", `/media-assets/${id}`, settings)
        assert.deepInclude(changed.body, { ...settings, id, name: "Side view", createdAt })
        const reset = yield* call("PUT", `/media-assets/${id}`, { name: "Front", altText: null })
        assert.deepInclude(reset.body, { ...settings, name: "Front", altText: null })
        assert.deepStrictEqual((yield* call("GET", `/media-assets/${id}`)).body, reset.body)
        const whole = yield* aMediaAsset({ name: "All of it", ...settings })
        assert.deepInclude(whole, settings)
      })
    )

    it.effect("refuse malformed fields, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const created = yield* aMediaAsset()
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ name: "" }, ["name: min_length"]],
          [{ name: null }, ["name: string"]],
          [{ altText: 1, mimeType: "x".repeat(201) }, ["altText: string", "mimeType: max_length"]],
          [
            { altText: "x".repeat(1_001), description: "x".repeat(2_001) },
            ["altText: max_length", "description: max_length"]
          ],
          [
            { publicUrl: "x".repeat(2_001), sourceUrl: {} },
            ["publicUrl: max_length", "publicUrl: string", "sourceUrl: string"]
          ],
          [{ publicUrl: "http://cdn.example/side.jpg" }, ["publicUrl: string"]],
          [
            { thumbnailUrl: "\u0000", uploadUrl: [] },
            ["thumbnailUrl: string", "thumbnailUrl: string", "uploadUrl: string"]
          ]
        ]
        for (const [mistake, expected] of mistakes) {
          const creation = yield* call("POST", "/media-assets", { name: "x", ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, JSON.stringify(mistake))
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/media-assets/${created.id}`, mistake)), expected)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/media-assets", {})), ["name: string"])
        assert.deepStrictEqual((yield* call("GET", `/media-assets/${created.id}`)).body, created)
      })
    )

    it.effect("are sorted by age and name, and found by name", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        for (const name of ["Bees", "Cats", "Ants"]) yield* aMediaAsset({ name }, as)
        const names = (query: string) => listed(`/media-assets?${query}`, "name", as)
        assert.deepStrictEqual(yield* names(""), ["Bees", "Cats", "Ants"])
        assert.deepStrictEqual(yield* names("sortBy=name"), ["Ants", "Bees", "Cats"])
        assert.deepStrictEqual(yield* names("sortBy=name&sortDir=desc&first=1"), ["Cats"])
        assert.deepStrictEqual(yield* names("search=EE"), ["Bees"])
        assert.deepStrictEqual(yield* names("search=%25s"), [])
        const refused = yield* call("GET", "/media-assets?sortBy=mimeType", undefined, as)
        assert.deepStrictEqual(issuesOf(refused), ["sortBy: picklist"])
      })
    )

    it.effect("are archived, except while a product shows them", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id: mediaAssetId } = yield* aMediaAsset()
        const path = `/media-assets/${mediaAssetId}`
        const product = yield* aProduct({ productMediaAssets: [{ mediaAssetId }, { mediaAssetId }] })
        const other = yield* aProduct({ productMediaAssets: [{ mediaAssetId }] })
        const refused = yield* call("DELETE", path)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "MEDIA_ASSET_IN_USE"])
        assert.include(refused.body.error, "2 product(s)")
        for (const who of [stranger, rehearsal]) {
          assert.deepStrictEqual(yield* notFoundAt(path, { name: "Mine" }, who), [notFound, notFound, notFound])
        }
        yield* call("PUT", `/products/${product.id}`, { productMediaAssets: [] })
        assert.strictEqual((yield* call("DELETE", path)).body.code, "MEDIA_ASSET_IN_USE")
        yield* call("DELETE", `/products/${other.id}`)
        assert.deepInclude((yield* call("DELETE", path)).body, { id: mediaAssetId, archived: true })
        assert.deepStrictEqual(yield* notFoundAt(path, { name: "x" }), [notFound, notFound, notFound])
        const late = yield* call("PUT", `/products/${product.id}`, { productMediaAssets: [{ mediaAssetId }] })
        assert.deepStrictEqual(issuesOf(late), ["productMediaAssets.0.mediaAssetId: picklist"])
      })
    )
  })
})
