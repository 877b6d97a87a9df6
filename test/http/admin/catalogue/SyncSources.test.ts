import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import { aProduct, aSyncSource, aVariant, listed, notFoundAt, unknown } from "./catalogueFixture.ts"

const notFound = [404, "Sync source not found"]

describe("Sync sources on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("return every field, null where nothing is set, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const created = yield* aSyncSource()
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = created
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          syncSource: "shopify",
          syncSourceId: "brand.example",
          sourceData: null,
          syncStatus: null,
          lastSyncedAt: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/sync-sources/${id}`)).body, created)
        const sourceData = { shop: { plan: "basic", tags: ["a", null, 1.5] } }
        const lastSyncedAt = "2026-11-21T19:00:00+01:00"
        const changed = yield* call("PUT", `/sync-sources/${id}`, { sourceData, syncStatus: "FAILED", lastSyncedAt })
        assert.deepInclude(changed.body, { sourceData, syncStatus: "FAILED", syncSource: "shopify", createdAt })
        assert.strictEqual(changed.body.lastSyncedAt, "2026-11-21T18:00:00.000Z")
        const reset = yield* call("PUT", `/sync-sources/${id}`, { syncStatus: null, syncSource: "erp" })
        assert.deepInclude(reset.body, { syncStatus: null, syncSource: "erp", sourceData })
        assert.deepStrictEqual((yield* call("GET", `/sync-sources/${id}`)).body, reset.body)
      })
    )

    it.effect("refuse malformed fields, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const created = yield* aSyncSource()
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ syncSource: "", syncSourceId: "" }, ["syncSource: min_length", "syncSourceId: min_length"]],
          [{ syncSource: null }, ["syncSource: string"]],
          [{ syncSource: "x".repeat(201) }, ["syncSource: max_length"]],
          [{ syncSourceId: "x".repeat(501) }, ["syncSourceId: max_length"]],
          [{ syncStatus: "DONE", lastSyncedAt: "yesterday" }, ["lastSyncedAt: date_time", "syncStatus: picklist"]],
          [{ sourceData: [] }, ["sourceData: object"]],
          [{ sourceData: { a: "x".repeat(10_000) } }, ["sourceData: max_length"]],
          [{ sourceData: { a: "\u0000" } }, ["sourceData: json"]]
        ]
        const good = { syncSource: "shopify", syncSourceId: "brand.example" }
        for (const [mistake, expected] of mistakes) {
          const creation = yield* call("POST", "/sync-sources", { ...good, ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, JSON.stringify(mistake))
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/sync-sources/${created.id}`, mistake)), expected)
        }
        const empty = yield* call("POST", "/sync-sources", {})
        assert.deepStrictEqual(issuesOf(empty), ["syncSource: string", "syncSourceId: string"])
        assert.deepStrictEqual((yield* call("GET", `/sync-sources/${created.id}`)).body, created)
      })
    )

    it.effect("are sorted by age, filtered by status, and found by name", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        yield* aSyncSource({ syncSourceId: "one", syncStatus: "PENDING" }, as)
        yield* aSyncSource({ syncSourceId: "two", syncStatus: "FAILED" }, as)
        yield* aSyncSource({ syncSource: "erp", syncSourceId: "three" }, as)
        yield* aSyncSource({ syncSourceId: "four", syncStatus: "FAILED" }, as)
        const ids = (query: string) => listed(`/sync-sources?${query}`, "syncSourceId", as)
        assert.deepStrictEqual(yield* ids(""), ["one", "two", "three", "four"])
        assert.deepStrictEqual(yield* ids("syncStatus=FAILED"), ["two", "four"])
        assert.deepStrictEqual(yield* ids("search=ERP"), ["three"])
        assert.deepStrictEqual(yield* ids("search=tw"), ["two"])
        assert.deepStrictEqual(yield* ids("search=sHop&syncStatus=PENDING"), ["one"])
        assert.deepStrictEqual(yield* ids("last=1"), ["four"])
        const { body } = yield* call("GET", "/sync-sources?syncStatus=FAILED&first=1", undefined, as)
        const { endCursor } = body.pageInfo
        assert.deepStrictEqual(yield* ids(`syncStatus=FAILED&after=${endCursor}`), ["four"])
        for (const [query, expected] of [
          [`after=${endCursor}`, "after: string"],
          [`syncStatus=PENDING&after=${endCursor}`, "after: string"],
          ["syncStatus=DONE", "syncStatus: picklist"],
          ["sortBy=syncSource", "sortBy: picklist"],
          ["search=x", "search: min_length"]
        ] as const) {
          const refused = yield* call("GET", `/sync-sources?${query}`, undefined, as)
          assert.deepStrictEqual(issuesOf(refused), [expected])
        }
      })
    )

    it.effect("are archived, except while a product or a variant comes from them", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id } = yield* aSyncSource()
        const path = `/sync-sources/${id}`
        const product = yield* aProduct({ primarySyncSourceId: id })
        const variant = yield* aVariant({ productId: product.id, primarySyncSourceId: id })
        const refused = yield* call("DELETE", path)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "SYNC_SOURCE_IN_USE"])
        assert.include(refused.body.error, "2 product(s) and variant(s)")
        yield* call("PUT", `/products/${product.id}`, { primarySyncSourceId: null })
        assert.strictEqual((yield* call("DELETE", path)).body.code, "SYNC_SOURCE_IN_USE")
        for (const who of [stranger, rehearsal]) {
          assert.deepStrictEqual(yield* notFoundAt(path, {}, who), [notFound, notFound, notFound])
        }
        yield* call("DELETE", `/variants/${variant.id}`)
        const archived = yield* call("DELETE", path)
        assert.deepInclude(archived.body, { id, archived: true })
        assert.deepStrictEqual(yield* notFoundAt(path, {}), [notFound, notFound, notFound])
        assert.deepStrictEqual(yield* notFoundAt(`/sync-sources/${unknown}`, {}), [notFound, notFound, notFound])
        assert.notInclude(yield* listed("/sync-sources?first=100", "id"), id)
        const late = yield* call("POST", "/products", { name: "Late", primarySyncSourceId: id })
        assert.deepStrictEqual(issuesOf(late), ["primarySyncSourceId: picklist"])
      })
    )
  })
})
