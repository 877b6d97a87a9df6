import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { MediaAssets } from "../../../src/store/catalogue/MediaAssets.ts"
import { type ProductDraft, Products } from "../../../src/store/catalogue/Products.ts"
import { SyncSources } from "../../../src/store/catalogue/SyncSources.ts"
import { Variants } from "../../../src/store/catalogue/Variants.ts"
import { aTenant, inTestMode, walk } from "../support/recordsFixture.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"

const catalogue = Layer.mergeAll(Products.layer, Variants.layer, MediaAssets.layer, SyncSources.layer).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(TestDatabase.layer)
)

const aVariant = (sku: string) => ({ settings: { sku, inventoryPolicy: "untracked" as const }, options: [] })

const draft = (name: string, more: Partial<ProductDraft> = {}): ProductDraft => ({
  settings: { name },
  variants: [],
  media: [],
  pictures: [],
  ...more
})

/** Creates a product of the tenant with two variants, media and a sync source. */
const aWholeProduct = Effect.fnUntraced(function* (tenant: Tenant, name = "Sneaker") {
  const products = yield* Products
  const { id: mediaAssetId } = yield* (yield* MediaAssets).create(tenant, "x", { name: `${name} from its side` })
  const source = { syncSource: "shopify", syncSourceId: name }
  const { id: primarySyncSourceId } = yield* (yield* SyncSources).create(tenant, "x", source)
  return yield* products.create(
    tenant,
    "x",
    draft(name, {
      settings: { name, primarySyncSourceId },
      variants: [aVariant(`${name}-1`), aVariant(`${name}-2`)],
      media: [{ mediaAssetId }]
    })
  )
})

/** Counts the statements that an effect sends. */
const statementsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let count = 0
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") count++
      return new Tracer.NativeSpan(options)
    }
  })
  yield* Effect.provideService(effect, Tracer.Tracer, tracer)
  return count
})

describe("Products in Postgres", () => {
  layer(catalogue, { excludeTestServices: true })((it) => {
    it.effect("are read in bulk with all their parts; variants are read without their options", () =>
      Effect.gen(function* () {
        const products = yield* Products
        const variants = yield* Variants
        const tenant = yield* aTenant()
        const [one, two, archived] = [
          yield* aWholeProduct(tenant, "One"),
          yield* products.create(tenant, "x", draft("Two")),
          yield* aWholeProduct(tenant, "Archived")
        ]
        yield* products.archive(tenant, archived.id, "x")
        const ids = [two.id, one.id, archived.id, randomUUID(), one.id]
        assert.sameDeepMembers([...(yield* products.byIds(tenant, ids))], [one, two])
        const { options: _, ...plain } = one.variants[1]!
        const variantIds = [plain.id, archived.variants[0]!.id, randomUUID()]
        assert.deepStrictEqual(yield* variants.byIds(tenant, variantIds), [plain])
        assert.deepStrictEqual(yield* products.byIds(tenant, []), [])
        assert.deepStrictEqual(yield* variants.byIds(tenant, []), [])
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          assert.deepStrictEqual(yield* products.byIds(stranger, ids), [])
          assert.deepStrictEqual(yield* variants.byIds(stranger, variantIds), [])
        }
      })
    )

    it.effect("need as many statements for a page of many as for a page of one", () =>
      Effect.gen(function* () {
        const products = yield* Products
        const tenant = yield* aTenant()
        for (let n = 0; n < 6; n++) yield* aWholeProduct(tenant, `Product ${n}`)
        const one = yield* statementsOf(products.list(tenant, { first: 1 }))
        assert.isAbove(one, 1, "the statements are heard")
        assert.isAtMost(one, 4)
        assert.strictEqual(yield* statementsOf(products.list(tenant, { first: 100 })), one)
        const page = yield* products.list(tenant, { first: 100 })
        for (const { variants, productMediaAssets, primarySyncSource, name } of page.data) {
          assert.deepStrictEqual(
            variants.map(({ sku }) => sku),
            [`${name}-1`, `${name}-2`]
          )
          assert.strictEqual(productMediaAssets[0]!.mediaAsset.name, `${name} from its side`)
          assert.strictEqual(primarySyncSource!.syncSourceId, name)
        }
      })
    )

    it.effect("are paged in both directions without gaps or repeats, during concurrent inserts", () =>
      Effect.gen(function* () {
        const products = yield* Products
        const tenant = yield* aTenant()
        const names = ["Same", "Same", "Same", "Bee", "Ant", "Cat", "Same"]
        for (const name of names) yield* products.create(tenant, "x", draft(name))
        for (const backward of [false, true]) {
          for (const sortBy of ["name", "createdAt", "updatedAt"] as const) {
            const list = (query: object) => products.list(tenant, { ...query, sortBy })
            const walked = yield* walk(2, list, { backward })
            assert.lengthOf(new Set(walked.map(({ id }) => id)), names.length)
            if (sortBy === "name") {
              assert.deepStrictEqual(
                walked.map(({ name }) => name),
                names.toSorted()
              )
            }
          }
        }
      })
    )

    it.effect("are either archived or given another variant, if both happen at once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const products = yield* Products
        const variants = yield* Variants
        const tenant = yield* aTenant()
        for (let round = 0; round < 10; round++) {
          const { id } = yield* products.create(tenant, "x", draft("Sneaker", { variants: [aVariant("A")] }))
          yield* Effect.all(
            [products.archive(tenant, id, "x"), Effect.result(variants.create(tenant, "x", id, aVariant("B")))],
            { concurrency: "unbounded" }
          )
          const left = yield* sql`select id from product_variants where product_id = ${id} and not archived`
          assert.deepStrictEqual(left, [], `round ${round}`)
        }
      })
    )

    it.effect("are refused if one of their media is archived at the same time, and otherwise both exist", () =>
      Effect.gen(function* () {
        const products = yield* Products
        const media = yield* MediaAssets
        const tenant = yield* aTenant()
        for (let round = 0; round < 10; round++) {
          const { id: mediaAssetId } = yield* media.create(tenant, "x", { name: "Side" })
          const [archived, created] = yield* Effect.all(
            [
              media.archive(tenant, mediaAssetId, "x"),
              Effect.result(products.create(tenant, "x", draft("Sneaker", { media: [{ mediaAssetId }] })))
            ],
            { concurrency: "unbounded" }
          )
          assert.strictEqual(archived._tag === "Archived", created._tag === "Failure", `round ${round}`)
        }
      })
    )

    it.effect("keep their default variant only while it exists, under concurrent changes of both", () =>
      Effect.gen(function* () {
        const products = yield* Products
        const variants = yield* Variants
        const tenant = yield* aTenant()
        for (let round = 0; round < 10; round++) {
          const product = yield* products.create(
            tenant,
            "x",
            draft("Sneaker", { variants: [aVariant("A"), aVariant("B")] })
          )
          const defaultVariantId = product.variants[1]!.id
          yield* Effect.all(
            [
              variants.archive(tenant, defaultVariantId, "x"),
              Effect.result(products.change(tenant, product.id, "x", (settings) => ({ ...settings, defaultVariantId })))
            ],
            { concurrency: "unbounded" }
          )
          const { defaultVariantId: kept } = yield* products.find(tenant, product.id)
          assert.notStrictEqual(kept, defaultVariantId, `round ${round}`)
        }
      })
    )

    it.effect("are searched, sorted and filtered by indexes, however many there are", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const products = yield* Products
        const tenant = yield* aTenant()
        yield* withoutBounds(sql`
          insert into products
            (id, organization_id, mode, record, created_at, created_by, updated_at, updated_by, name)
          select gen_random_uuid(), ${tenant.organizationId}, 'live', jsonb_build_object('handle', md5(n::text)),
            now() + n * interval '1 ms', 'x', now() - n * interval '1 ms', 'x', md5((n * 7)::text)
          from generate_series(1, 5000) n`)
        yield* sql`vacuum analyze products`
        const planOf = Effect.fnUntraced(function* (rest: string) {
          const plan = yield* sql<{ readonly "QUERY PLAN": string }>`
            explain select p.* from products p
            where p.organization_id = ${tenant.organizationId} and p.mode = 'live' and not p.archived
              and ${sql.literal(rest)}`
          return plan.map((row) => row["QUERY PLAN"]).join("\n")
        })
        for (const [field, index] of [
          ["created_at", "products_by_tenant"],
          ["updated_at", "products_by_update"],
          ["name", "products_by_name"]
        ] as const) {
          const value = field === "name" ? "'8'" : "now()"
          const text = yield* planOf(
            `(p.${field}, p.id) > (${value}, '${tenant.organizationId}'::uuid) order by p.${field}, p.id limit 20`
          )
          assert.include(text, index)
          assert.notInclude(text, "Sort")
        }
        const [handle] = yield* sql<{ readonly handle: string }>`
          select record ->> 'handle' as handle from products where organization_id = ${tenant.organizationId} limit 1`
        const search = handle!.handle.slice(3, 15)
        const searched = "p.name || E'\\n' || coalesce(p.record ->> 'handle', '')"
        const text = yield* planOf(
          `search_pieces(p.organization_id, p.mode, fold_case(${searched})) @> search_pieces('${tenant.organizationId}', 'live', fold_case('${search}'))`
        )
        assert.include(text, "products_by_text")
        const { data } = yield* products.list(tenant, { search })
        assert.deepStrictEqual(
          data.map(({ handle }) => handle),
          [handle!.handle]
        )
      })
    )
  })
})
