import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { MediaAsset } from "../../../src/domain/catalogue/MediaAsset.ts"
import { Metadata, metadataLengthMax, SourceData, sourceDataLengthMax } from "../../../src/domain/catalogue/Metadata.ts"
import * as Product from "../../../src/domain/catalogue/Product.ts"
import * as SyncSource from "../../../src/domain/catalogue/SyncSource.ts"
import * as Variant from "../../../src/domain/catalogue/Variant.ts"
import { jsonDepthMax } from "../../../src/domain/values/Text.ts"

const accepts = (schema: Schema.Codec<unknown, unknown>, value: unknown): boolean =>
  Result.isSuccess(Schema.decodeUnknownResult(schema, { errors: "all" })(value))

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const stamps = { createdAt: 0, createdBy: "x", updatedAt: 0, updatedBy: "x", archived: false }

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

describe("The metadata of a record of the catalogue", () => {
  it("is so long and no longer", () => {
    for (const [schema, lengthMax] of [
      [Metadata, metadataLengthMax],
      [SourceData, sourceDataLengthMax]
    ] as const) {
      const overhead = JSON.stringify({ a: "" }).length
      assert.isTrue(accepts(schema, { a: "x".repeat(lengthMax - overhead) }))
      assert.isFalse(accepts(schema, { a: "x".repeat(lengthMax - overhead + 1) }))
    }
  })

  it("is refused if it is nested too deep, however deep that is", () => {
    assert.isTrue(accepts(Metadata, { a: nested(jsonDepthMax - 1) }))
    assert.isFalse(accepts(Metadata, { a: nested(jsonDepthMax) }))
    assert.isFalse(accepts(Metadata, { a: nested(50_000) }))
  })
})

describe("A variant", () => {
  it("has a price that stays as it was written", () => {
    const decoded = Schema.decodeUnknownSync(Variant.Settings)({ price: "0.10", inventoryPolicy: "deny" })
    assert.strictEqual(decoded.price, "0.10")
    assert.strictEqual(Schema.encodeSync(Variant.Settings)(decoded).price, "0.10")
  })

  it("has one of three inventory policies", () => {
    const policies = ["untracked", "deny", "continue", "Deny", "", null]
    assert.deepStrictEqual(
      policies.map((inventoryPolicy) => accepts(Variant.Settings, { inventoryPolicy })),
      [true, true, true, false, false, false]
    )
  })
})

describe("A sync source", () => {
  it("has a name in a system, and one of three states", () => {
    const source = { syncSource: "shopify", syncSourceId: "brand.example" }
    assert.isTrue(accepts(SyncSource.Settings, source))
    for (const syncStatus of ["PENDING", "SUCCESS", "FAILED"]) {
      assert.isTrue(accepts(SyncSource.Settings, { ...source, syncStatus }))
    }
    for (const wrong of [{ syncSource: "shopify" }, { ...source, syncSource: "" }, { ...source, syncStatus: "DONE" }]) {
      assert.isFalse(accepts(SyncSource.Settings, wrong))
    }
  })
})

describe("A product", () => {
  it("goes out with its variants, media and sync source, instants and amounts as text", () => {
    const origin = {
      primaryExternalId: null,
      primarySourceVendor: null,
      primarySyncSourceId: null,
      primaryLastSyncedAt: 1_000
    }
    const variant: Variant.Variant = {
      id,
      organizationId: id,
      productId: id,
      sku: null,
      price: "12.50",
      inventoryQuantity: -1,
      inventoryPolicy: "continue",
      metadata: null,
      ...origin,
      ...stamps,
      options: [{ optionId: id, optionName: "Size", value: "41", valueId: id }]
    }
    const texts = { altText: null, description: null, mimeType: null }
    const urls = { publicUrl: null, sourceUrl: null, thumbnailUrl: null, uploadUrl: null }
    const mediaAsset: MediaAsset = { id, organizationId: id, name: "Side", ...texts, ...urls, ...stamps }
    const sent = Schema.encodeSync(Product.Product)({
      id,
      organizationId: id,
      name: "Sneaker",
      url: null,
      handle: null,
      description: null,
      defaultVariantId: id,
      metadata: { a: [1] },
      ...origin,
      primarySyncSource: null,
      productMediaAssets: [
        { id, mediaAssetId: id, organizationId: id, productId: id, position: 0, purpose: null, mediaAsset }
      ],
      variants: [variant],
      ...stamps
    })
    assert.strictEqual(sent.primaryLastSyncedAt, "1970-01-01T00:00:01.000Z")
    assert.deepInclude(sent.variants[0], {
      price: "12.50",
      inventoryQuantity: -1,
      createdAt: "1970-01-01T00:00:00.000Z"
    })
    assert.deepStrictEqual(sent.variants[0]!.options, variant.options)
    assert.strictEqual(sent.productMediaAssets[0]!.mediaAsset.createdAt, "1970-01-01T00:00:00.000Z")
  })
})
