import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { ExperienceProducts } from "../../../src/store/experience/ExperienceProducts.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { ShownProducts } from "../../../src/store/experience/ShownProducts.ts"
import { anOptionOf, aPicture, aProduct, aSyncSource, aVariant } from "../catalogue/catalogueFixture.ts"
import { aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"
import { changesHandled } from "../support/notifications.ts"

const anExperience = Effect.fnUntraced(function* (tenant: Tenant) {
  const experiences = yield* Experiences
  return (yield* experiences.create(tenant, "x", { name: "Drop", timeZone: "UTC", currencyCode: "USD" })).id
})

const whole = (productId: string, position = 0) => ({ productId, productVariantId: null, position })

const stamps = {
  archived: false,
  createdAt: "1970-01-01T00:00:01.000Z",
  createdBy: "x",
  updatedAt: "1970-01-01T00:00:02.000Z",
  updatedBy: "y"
}

const memory = ShownProducts.layer.pipe(Layer.provideMerge(Invalidations.layer), Layer.provideMerge(records))

describe("The products of an experience", () => {
  layer(memory, { excludeTestServices: true })((it) => {
    it.effect("are returned with all their parts, and null where nothing is set", () =>
      Effect.gen(function* () {
        const products = yield* ExperienceProducts
        const tenant = yield* aTenant()
        const { organizationId } = tenant
        const experienceId = yield* anExperience(tenant)
        const sourceId = yield* aSyncSource(tenant, { syncStatus: "SUCCESS", sourceData: { a: 1 } })
        const record = { description: "Fast", metadata: { season: "spring" } }
        const productId = yield* aProduct(tenant, record, { primary_sync_source_id: sourceId })
        const small = yield* aVariant(tenant, productId, { price: "49.9", inventoryPolicy: "deny" }, { sku: "S" })
        const { optionId, valueId } = yield* anOptionOf(tenant, small, { name: "Size", value: "small" })
        const second = yield* aPicture(tenant, productId, 2)
        const first = yield* aPicture(tenant, productId, 1, { altText: "From the side" })
        yield* products.replace(tenant, experienceId, [{ productId, productVariantId: small, position: 3 }])
        const [offer, ...rest] = yield* products.shown(experienceId)
        assert.deepStrictEqual(rest, [])
        const { id, product, productVariant, ...names } = offer!
        assert.deepStrictEqual(names, { organizationId, experienceId, productId, productVariantId: small, position: 3 })
        assert.deepStrictEqual(yield* products.named([experienceId]), [{ id, ...names }])
        const variant = {
          id: small,
          organizationId,
          productId,
          ...stamps,
          sku: "S",
          price: "49.9",
          inventoryQuantity: null,
          inventoryPolicy: "deny",
          metadata: null,
          primaryExternalId: null,
          primarySourceVendor: null,
          primarySyncSourceId: null,
          primaryLastSyncedAt: null
        } as typeof productVariant
        assert.deepStrictEqual(productVariant, variant)
        const { productMediaAssets, variants, primarySyncSource, ...own } = product
        assert.deepStrictEqual(own, {
          id: productId,
          organizationId,
          ...stamps,
          name: "Sneaker",
          ...record,
          url: null,
          handle: null,
          defaultVariantId: null,
          primaryExternalId: null,
          primarySourceVendor: null,
          primarySyncSourceId: sourceId,
          primaryLastSyncedAt: null
        })
        assert.deepStrictEqual<unknown>(variants, [
          { ...variant, options: [{ optionId, optionName: "Size", value: "small", valueId }] }
        ])
        assert.deepStrictEqual(primarySyncSource as object, {
          id: sourceId,
          organizationId,
          ...stamps,
          syncSource: "shop",
          syncSourceId: "shop-1",
          sourceData: { a: 1 },
          syncStatus: "SUCCESS",
          lastSyncedAt: null
        })
        assert.deepStrictEqual(
          productMediaAssets.map(({ id, mediaAssetId, purpose }) => ({ id, mediaAssetId, purpose })),
          [first, second].map((picture) => ({ ...picture, purpose: "gallery" }))
        )
        assert.deepInclude(productMediaAssets[0]!.mediaAsset as object, { name: "Picture 1", altText: "From the side" })
      })
    )

    it.effect("are sorted by position, and hidden while they or their variant are archived", () =>
      Effect.gen(function* () {
        const products = yield* ExperienceProducts
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const [a, b, c] = [yield* aProduct(tenant), yield* aProduct(tenant), yield* aProduct(tenant)]
        const variant = yield* aVariant(tenant, c)
        const offers = [whole(a, 2), whole(b, 1), { ...whole(c, 2), productVariantId: variant }]
        yield* products.replace(tenant, experienceId, offers)
        const shown = Effect.gen(function* () {
          const found = yield* products.shown(experienceId)
          const named = yield* products.named([experienceId])
          assert.deepStrictEqual(
            named.map(({ id }) => id),
            found.map(({ id }) => id)
          )
          return found.map(({ productId }) => productId)
        })
        assert.deepStrictEqual(yield* shown, [b, a, c])
        yield* sql`update products set archived = true where id = ${a}`
        yield* sql`update product_variants set archived = true where id = ${variant}`
        assert.deepStrictEqual(yield* shown, [b])
        assert.deepStrictEqual((yield* products.shown(yield* anExperience(tenant))).length, 0)
      })
    )

    it.effect("are replaced as a whole; an offer that stays keeps its id", () =>
      Effect.gen(function* () {
        const products = yield* ExperienceProducts
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const [a, b, c] = [yield* aProduct(tenant), yield* aProduct(tenant), yield* aProduct(tenant)]
        const variant = yield* aVariant(tenant, a)
        yield* products.replace(tenant, experienceId, [whole(a), whole(b, 1)])
        const [before] = yield* products.named([experienceId])
        yield* products.replace(tenant, experienceId, [
          whole(c),
          whole(a, 5),
          { productId: a, productVariantId: variant, position: 6 }
        ])
        const after = yield* products.named([experienceId])
        assert.deepStrictEqual(
          after.map(({ productId, productVariantId, position }) => [productId, productVariantId, position]),
          [
            [c, null, 0],
            [a, null, 5],
            [a, variant, 6]
          ]
        )
        assert.deepStrictEqual(
          after.map(({ id }) => id === before!.id),
          [false, true, false]
        )
        yield* products.replace(tenant, experienceId, [])
        assert.deepStrictEqual(yield* products.named([experienceId]), [])
      })
    )

    it.effect("are accepted only if they belong to the tenant and are not archived", () =>
      Effect.gen(function* () {
        const products = yield* ExperienceProducts
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const product = yield* aProduct(tenant)
        const variant = yield* aVariant(tenant, product)
        const gone = yield* aProduct(tenant)
        const goneVariant = yield* aVariant(tenant, gone)
        yield* sql`update products set archived = true where id = ${gone}`
        yield* sql`update product_variants set archived = true where id = ${goneVariant}`
        const named = {
          productIds: [product, gone, randomUUID()],
          variantIds: [variant, goneVariant, randomUUID()]
        }
        const known = yield* products.held(tenant, named)
        assert.deepStrictEqual([...known.products], [product])
        assert.deepStrictEqual([...known.variants], [[variant, product]])
        for (const other of [inTestMode(tenant), yield* aTenant()]) {
          const { products: none, variants } = yield* products.held(other, named)
          assert.deepStrictEqual([none.size, variants.size], [0, 0])
        }
      })
    )

    it.effect("determine which variants can be selected, where there are any products", () =>
      Effect.gen(function* () {
        const products = yield* ExperienceProducts
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const [a, b] = [yield* aProduct(tenant), yield* aProduct(tenant)]
        const [a1, a2, b1, b2] = [
          yield* aVariant(tenant, a),
          yield* aVariant(tenant, a),
          yield* aVariant(tenant, b),
          yield* aVariant(tenant, b)
        ]
        const unknown = randomUUID()
        const asked = [a1, a2, b1, b2, unknown]
        const notOffered = Effect.map(products.variantsNotOffered(tenant, experienceId, asked), (ids) => [...ids])
        assert.deepStrictEqual(yield* notOffered, [])
        yield* products.replace(tenant, experienceId, [whole(a), { ...whole(b), productVariantId: b1 }])
        assert.deepStrictEqual(yield* notOffered, [b2, unknown])
      })
    )

    it.effect("are cached until one of their parts changes, and not until another organization's does", () =>
      Effect.gen(function* () {
        const remembered = yield* ShownProducts
        const products = yield* ExperienceProducts
        const sql = yield* SqlClient.SqlClient
        const invalidations = yield* Invalidations
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const product = yield* aProduct(tenant)
        const variant = yield* aVariant(tenant, product)
        const { optionId } = yield* anOptionOf(tenant, variant, { name: "Size", value: "small" })
        const picture = yield* aPicture(tenant, product, 1)
        const source = yield* aSyncSource(tenant)
        yield* sql`update products set primary_sync_source_id = ${source} where id = ${product}`
        yield* products.replace(tenant, experienceId, [whole(product)])
        assert.isTrue(invalidations.isCurrent())
        const ask = remembered.of(tenant.organizationId, experienceId)
        yield* changesHandled()
        const first = yield* ask
        assert.strictEqual(first[0]!.product.name, "Sneaker")
        yield* aVariant(yield* aTenant(), yield* aProduct(yield* aTenant()))
        yield* changesHandled()
        assert.strictEqual(yield* ask, first)
        const changes = [
          sql`update products set name = 'Boot' where id = ${product}`,
          sql`update product_variants set sku = 'new' where id = ${variant}`,
          sql`update media_assets set name = 'New' where id = ${picture.mediaAssetId}`,
          sql`update product_media_assets set position = 7 where id = ${picture.id}`,
          sql`update variant_options set name = 'Width' where id = ${optionId}`,
          sql`update variant_option_values set value = 'wide' where option_id = ${optionId}`,
          sql`update sync_sources set sync_source = 'other' where id = ${source}`,
          sql`delete from product_variant_options where option_id = ${optionId}`,
          products.replace(tenant, experienceId, [])
        ]
        let before = first
        for (const [index, change] of changes.entries()) {
          yield* change
          yield* changesHandled()
          const after = yield* ask
          assert.notDeepEqual(after, before, `change ${index}`)
          before = after
        }
      })
    )

    it.effect("are offered in all their variants, or in the named one, without archived ones", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const products = yield* ExperienceProducts
        const remembered = yield* ShownProducts
        const tenant = yield* aTenant()
        const [experienceId, elsewhere] = [yield* anExperience(tenant), yield* anExperience(tenant)]
        const [both, one, gone] = [yield* aProduct(tenant), yield* aProduct(tenant), yield* aProduct(tenant)]
        const [a, b] = [yield* aVariant(tenant, both), yield* aVariant(tenant, both)]
        const [c] = [yield* aVariant(tenant, one), yield* aVariant(tenant, one)]
        yield* aVariant(tenant, gone)
        yield* products.replace(tenant, experienceId, [
          whole(both),
          { productId: one, productVariantId: c, position: 1 },
          whole(gone, 2)
        ])
        yield* sql`update products set archived = true where id = ${gone}`
        const told = Effect.sleep("200 millis")
        yield* told
        const offered = remembered.variantIds(tenant.organizationId, experienceId)
        const first = yield* offered
        assert.deepStrictEqual(first, new Set([a, b, c]))
        assert.strictEqual(yield* offered, first)
        assert.deepStrictEqual(yield* remembered.variantIds(tenant.organizationId, elsewhere), new Set())
        yield* sql`update product_variants set archived = true where id = ${a}`
        const later = yield* aVariant(tenant, both)
        yield* told
        assert.deepStrictEqual(yield* offered, new Set([b, c, later]))
      })
    )

    it.effect("are read from the database once for simultaneous callers", () =>
      Effect.gen(function* () {
        const products = yield* ExperienceProducts
        let asked = 0
        const counting = Layer.succeed(ExperienceProducts, {
          ...products,
          shown: (id) => {
            asked++
            return products.shown(id)
          },
          variantIds: (id) => {
            asked++
            return products.variantIds(id)
          }
        })
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        yield* products.replace(tenant, experienceId, [whole(yield* aProduct(tenant))])
        yield* changesHandled()
        const answers = yield* Effect.gen(function* () {
          const remembered = yield* ShownProducts
          return yield* Effect.all(
            Array.from({ length: 100 }, () => [
              remembered.of(tenant.organizationId, experienceId),
              remembered.variantIds(tenant.organizationId, experienceId)
            ]).flat(),
            { concurrency: "unbounded" }
          )
        }).pipe(Effect.provide(Layer.fresh(ShownProducts.layer).pipe(Layer.provide(counting))))
        assert.strictEqual(asked, 2)
        for (const [index, answer] of answers.entries()) assert.strictEqual<unknown>(answer, answers[index % 2])
      })
    )
  })
})
