import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import { anOffer, anOption, aProduct, aSyncSource, aVariant, listed, notFoundAt, unknown } from "./catalogueFixture.ts"

const notFound = [404, "Variant not found"]

describe("Variants on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("return every field, null where nothing is set, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: productId } = yield* aProduct()
        const created = yield* aVariant({ productId })
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = created
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          productId,
          sku: null,
          price: null,
          inventoryQuantity: null,
          inventoryPolicy: "untracked",
          metadata: null,
          primaryExternalId: null,
          primarySourceVendor: null,
          primarySyncSourceId: null,
          primaryLastSyncedAt: null,
          options: [],
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        const source = yield* aSyncSource()
        const settings = {
          sku: "SNK-42",
          price: "129.90000001",
          inventoryQuantity: -3,
          inventoryPolicy: "continue",
          metadata: { box: { wide: true } },
          primaryExternalId: "gid://1",
          primarySourceVendor: "shopify",
          primarySyncSourceId: source.id,
          primaryLastSyncedAt: "2026-11-21T18:00:00.000Z"
        }
        const changed = yield* call("PUT", `/variants/${id}`, settings)
        assert.deepInclude(changed.body, { ...settings, id, productId, createdAt })
        const reset = yield* call("PUT", `/variants/${id}`, { price: null, inventoryPolicy: null, sku: "SNK" })
        assert.deepInclude(reset.body, { ...settings, price: null, inventoryPolicy: "untracked", sku: "SNK" })
        assert.deepStrictEqual((yield* call("GET", `/variants/${id}`)).body, reset.body)
        assert.deepInclude(yield* aVariant({ productId, ...settings }), settings)
        assert.strictEqual((yield* aVariant({ productId, price: "100.500" })).price, "100.500")
      })
    )

    it.effect("refuse malformed fields, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: productId } = yield* aProduct()
        const created = yield* aVariant({ productId })
        const { optionId, valueIds } = yield* anOption("Size", ["41"])
        const choice = { optionId, valueId: valueIds[0] }
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ price: "-1" }, ["price: amount"]],
          [{ price: 12.5 }, ["price: amount"]],
          [{ price: "1".repeat(13) }, ["price: amount"]],
          [
            { inventoryQuantity: 1.5, inventoryPolicy: "allow" },
            ["inventoryPolicy: picklist", "inventoryQuantity: integer"]
          ],
          [{ inventoryQuantity: 1_000_000_001 }, ["inventoryQuantity: max_value"]],
          [{ inventoryQuantity: -1_000_000_001 }, ["inventoryQuantity: min_value"]],
          [
            { sku: "x".repeat(201), primaryExternalId: "x".repeat(501) },
            ["primaryExternalId: max_length", "sku: max_length"]
          ],
          [{ metadata: { a: "x".repeat(4_000) } }, ["metadata: max_length"]],
          [{ primarySyncSourceId: "shopify" }, ["primarySyncSourceId: uuid"]],
          [
            { primarySourceVendor: "x".repeat(201), primaryLastSyncedAt: 1 },
            ["primaryLastSyncedAt: string", "primarySourceVendor: max_length"]
          ],
          [
            { options: [{ optionId }, { valueId: "x" }] },
            ["options.0.valueId: string", "options.1.optionId: string", "options.1.valueId: uuid"]
          ],
          [{ options: Array.from({ length: 21 }, () => choice) }, ["options: max_length"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const creation = yield* call("POST", "/variants", { productId, ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, JSON.stringify(mistake))
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/variants/${created.id}`, mistake)), expected)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/variants", {})), ["productId: string"])
        assert.deepStrictEqual((yield* call("GET", `/variants/${created.id}`)).body, created)
        assert.lengthOf((yield* call("GET", `/variants?productId=${productId}`)).body.data, 1)
      })
    )

    it.effect("have one value for each option, and only a value of that option", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id: productId } = yield* aProduct()
        const size = yield* anOption("Size", ["41", "42"])
        const colour = yield* anOption("Colour", ["Red"])
        const small = { optionId: size.optionId, valueId: size.valueIds[0]! }
        const large = { optionId: size.optionId, valueId: size.valueIds[1]! }
        const red = { optionId: colour.optionId, valueId: colour.valueIds[0]! }
        const created = yield* aVariant({ productId, options: [red, small] })
        assert.deepStrictEqual(created.options, [
          { ...small, optionName: "Size", value: "41" },
          { ...red, optionName: "Colour", value: "Red" }
        ])
        const path = `/variants/${created.id}`
        assert.deepStrictEqual((yield* call("PUT", path, { sku: "A" })).body.options, created.options)
        const changed = yield* call("PUT", path, { options: [large] })
        assert.deepStrictEqual(changed.body.options, [{ ...large, optionName: "Size", value: "42" }])
        const foreign = yield* anOption("Size", ["41"], stranger)
        const test = yield* anOption("Size", ["41"], rehearsal)
        const theirs = { optionId: foreign.optionId, valueId: foreign.valueIds[0]! }
        const wrong = [
          { optionId: size.optionId, valueId: red.valueId },
          small,
          theirs,
          { optionId: colour.optionId, valueId: test.valueIds[0]! },
          { optionId: unknown, valueId: unknown }
        ]
        const expected = [
          "options.0.valueId: picklist",
          "options.1.optionId: picklist",
          "options.2.optionId: picklist",
          "options.2.valueId: picklist",
          "options.3.valueId: picklist",
          "options.4.optionId: picklist",
          "options.4.valueId: picklist",
          "primarySyncSourceId: picklist"
        ]
        const body = { options: wrong, price: "5", primarySyncSourceId: unknown }
        const refused = yield* call("PUT", path, body)
        assert.deepStrictEqual(issuesOf(refused), expected)
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/variants", { productId, ...body })), expected)
        const theirOption = refused.body.issues.find(
          ({ path, received }: any) => path.at(-1).key === "optionId" && received.includes(theirs.optionId)
        )
        assert.deepStrictEqual(theirOption.path[0].input.price, "5", "the body is shown as it was sent")
        assert.deepStrictEqual((yield* call("GET", path)).body, changed.body)
        assert.deepStrictEqual((yield* call("PUT", path, { options: null })).body.options, [])
      })
    )

    it.effect("are sorted by age and last change, filtered by product, and found by SKU", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const { id: productId } = yield* aProduct({}, as)
        const { id: other } = yield* aProduct({}, as)
        const size = yield* anOption("Size", ["41"], as)
        const options = [{ optionId: size.optionId, valueId: size.valueIds[0]! }]
        const first = yield* aVariant({ productId, sku: "SNK-41", options }, as)
        yield* aVariant({ productId: other, sku: "BAG-1" }, as)
        yield* aVariant({ productId, sku: "SNK-42" }, as)
        yield* call("PUT", `/variants/${first.id}`, {}, as)
        const skus = (query: string) => listed(`/variants?${query}`, "sku", as)
        assert.deepStrictEqual(yield* skus(""), ["SNK-41", "BAG-1", "SNK-42"])
        assert.deepStrictEqual(yield* skus("sortBy=updatedAt"), ["BAG-1", "SNK-42", "SNK-41"])
        assert.deepStrictEqual(yield* skus(`productId=${productId}`), ["SNK-41", "SNK-42"])
        assert.deepStrictEqual(yield* skus("search=nk-"), ["SNK-41", "SNK-42"])
        assert.deepStrictEqual(yield* skus(`search=nk&productId=${other}`), [])
        assert.deepStrictEqual(yield* skus(`productId=${unknown}`), [])
        assert.deepStrictEqual(yield* listed(`/variants?productId=${productId}`, "options", as), [first.options, []])
        const { body } = yield* call("GET", `/variants?productId=${productId}&first=1`, undefined, as)
        const { endCursor } = body.pageInfo
        assert.deepStrictEqual(yield* skus(`productId=${productId}&after=${endCursor}`), ["SNK-42"])
        const foreign = yield* call("GET", `/variants?productId=${other}&after=${endCursor}`, undefined, as)
        assert.deepStrictEqual(issuesOf(foreign), ["after: string"])
        assert.deepStrictEqual(issuesOf(yield* call("GET", "/variants?productId=x&sortBy=sku", undefined, as)), [
          "productId: uuid",
          "sortBy: picklist"
        ])
      })
    )

    it.effect("are created below an existing product, which has 100 at most", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id: productId } = yield* aProduct()
        for (const who of [stranger, rehearsal]) {
          const foreign = yield* call("POST", "/variants", { productId }, who)
          assert.deepStrictEqual([foreign.status, foreign.body.error], [404, "Product not found"])
        }
        const full = yield* aProduct({ variants: Array.from({ length: 99 }, () => ({})) })
        yield* aVariant({ productId: full.id })
        const refused = yield* call("POST", "/variants", { productId: full.id })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "TOO_MANY_VARIANTS"])
        yield* call("DELETE", `/variants/${full.variants[0].id}`)
        yield* aVariant({ productId: full.id })
        yield* call("DELETE", `/products/${productId}`)
        const late = yield* call("POST", "/variants", { productId })
        assert.deepStrictEqual([late.status, late.body.error], [404, "Product not found"])
      })
    )

    it.effect("are archived, except while an experience offers them; their product loses its default variant", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const product = yield* aProduct({ variants: [{ sku: "A" }, { sku: "B" }] })
        const [first, second] = product.variants
        const path = `/variants/${first.id}`
        const experienceId = yield* anOffer(product.id, first.id)
        const refused = yield* call("DELETE", path)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "VARIANT_IN_USE"])
        for (const who of [stranger, rehearsal]) {
          assert.deepStrictEqual(yield* notFoundAt(path, { sku: "Mine" }, who), [notFound, notFound, notFound])
        }
        assert.strictEqual((yield* call("DELETE", `/variants/${second.id}`)).body.archived, true)
        assert.strictEqual((yield* call("GET", `/products/${product.id}`)).body.defaultVariantId, first.id)
        yield* call("DELETE", `/experiences/${experienceId}`)
        assert.deepInclude((yield* call("DELETE", path)).body, { id: first.id, archived: true, sku: "A" })
        assert.deepStrictEqual(yield* notFoundAt(path, { sku: "x" }), [notFound, notFound, notFound])
        const { body } = yield* call("GET", `/products/${product.id}`)
        assert.deepStrictEqual([body.defaultVariantId, body.variants], [null, []])
      })
    )
  })
})
