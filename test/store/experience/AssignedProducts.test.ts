/** The products that the system assigns, in the database and in the cache. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { AssignedProducts } from "../../../src/store/experience/AssignedProducts.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aProduct, aVariant } from "../catalogue/catalogueFixture.ts"
import { changesHandled } from "../support/notifications.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

const memory = AssignedProducts.layer.pipe(Layer.provideMerge(Invalidations.layer), Layer.provideMerge(records))

const aSequence = Effect.fnUntraced(function* (tenant: Tenant, settings: object = {}) {
  const experiences = yield* Experiences
  const sequences = yield* Sequences
  const { id } = yield* experiences.create(tenant, "x", { name: "Drop", timeZone: "UTC", currencyCode: "USD" })
  return (yield* sequences.create(tenant, "x", id, { name: "Sale", priority: 0, ...settings })).id
})

/** Creates a sequence that assigns new products with these weights. */
const aSystemAssigned = Effect.fnUntraced(function* (tenant: Tenant, weights: ReadonlyArray<number>) {
  const sequenceProducts = yield* Effect.forEach(weights, (weight) =>
    Effect.map(aProduct(tenant), (productId) => ({ productId, weight }))
  )
  const sequenceId = yield* aSequence(tenant, { productSelectionMode: "SYSTEM_ASSIGNED", sequenceProducts })
  return { sequenceId, productIds: sequenceProducts.map(({ productId }) => productId) }
})

const consumers = Array.from({ length: 200 }, () => randomUUID())

const picksIn = Effect.fnUntraced(function* (tenant: Tenant, sequenceId: string) {
  const assigned = yield* AssignedProducts
  const products = yield* Effect.forEach(consumers, (id) => assigned.of({ ...tenant, sequenceId }, id))
  return products.map((product) => product?.productId)
})

describe("Products that the system picks", () => {
  layer(memory, { excludeTestServices: true })((it) => {
    it.effect("are the same after a restart, and are distributed by weight", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const { sequenceId, productIds } = yield* aSystemAssigned(tenant, [3, 1, 0])
        const first = yield* picksIn(tenant, sequenceId)
        const another = Layer.fresh(AssignedProducts.layer.pipe(Layer.provide(Layer.fresh(Invalidations.layer))))
        const restarted = yield* picksIn(tenant, sequenceId).pipe(Effect.provide(another))
        assert.deepStrictEqual(restarted, first)
        const counts = productIds.map((productId) => first.filter((picked) => picked === productId).length)
        assert.strictEqual(counts[2], 0)
        // Of 200 at a probability of 1/4 each, fewer than 20 or more than 80 have a probability of one in ten million.
        assert.isAtLeast(counts[1]!, 20)
        assert.isAtMost(counts[1]!, 80)
        assert.strictEqual(counts[0]! + counts[1]!, consumers.length)
      })
    )

    it.effect("are absent where consumers choose, where no product has a weight, and where there is no sequence", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const sequenceProducts = [{ productId: yield* aProduct(tenant), weight: 1 }]
        const none = [
          yield* aSequence(tenant, { sequenceProducts }),
          yield* aSequence(tenant, { sequenceProducts, productSelectionMode: "USER_SELECTED" }),
          yield* aSequence(tenant, { productSelectionMode: "SYSTEM_ASSIGNED" }),
          yield* aSequence(tenant, { productSelectionMode: "SYSTEM_ASSIGNED", sequenceProducts: [] }),
          randomUUID()
        ]
        for (const sequenceId of none) {
          assert.deepStrictEqual([...new Set(yield* picksIn(tenant, sequenceId))], [undefined])
        }
      })
    )

    it.effect("include their variants that are not archived", () =>
      Effect.gen(function* () {
        const assigned = yield* AssignedProducts
        const tenant = yield* aTenant()
        const { sequenceId, productIds } = yield* aSystemAssigned(tenant, [1])
        const [small, large] = [yield* aVariant(tenant, productIds[0]!), yield* aVariant(tenant, productIds[0]!)]
        yield* aVariant(tenant, productIds[0]!, {}, { archived: true })
        const product = yield* assigned.of({ ...tenant, sequenceId }, randomUUID())
        assert.deepStrictEqual(product, { productId: productIds[0]!, weight: 1, variantIds: new Set([small, large]) })
      })
    )

    it.effect("are cached until the sequence or the catalogue of the same organization changes", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const assigned = yield* AssignedProducts
        const sequences = yield* Sequences
        const invalidations = yield* Invalidations
        const tenant = yield* aTenant()
        const { sequenceId, productIds } = yield* aSystemAssigned(tenant, [1, 1, 1])
        const [one, other, third] = productIds as [string, string, string]
        yield* changesHandled()
        assert.isTrue(invalidations.isCurrent())
        const ask = assigned.of({ ...tenant, sequenceId }, consumers[0]!)
        const before = yield* ask
        const stranger = yield* aTenant()
        yield* aVariant(stranger, yield* aProduct(stranger))
        yield* sql`update sequences set name = 'Renamed' where id = ${sequenceId}`
        yield* sql`update products set name = 'Boot' where id = ${one}`
        yield* changesHandled()
        // The very same object: no statement was sent.
        assert.strictEqual(yield* ask, before)

        const first = yield* picksIn(tenant, sequenceId)
        yield* sql`update products set archived = true where id = ${third}`
        yield* changesHandled()
        const second = yield* picksIn(tenant, sequenceId)
        assert.notInclude(second, third)
        for (const [index, productId] of first.entries()) {
          if (productId !== third) assert.strictEqual(second[index], productId)
        }
        const only = [{ productId: other, weight: 5 }]
        yield* sequences.change(tenant, sequenceId, "x", (settings) =>
          Result.succeed({ ...settings, sequenceProducts: only })
        )
        yield* changesHandled()
        assert.deepStrictEqual([...new Set(yield* picksIn(tenant, sequenceId))], [other])
        const variant = yield* aVariant(tenant, other)
        yield* changesHandled()
        assert.deepStrictEqual((yield* ask)!.variantIds, new Set([variant]))
        yield* sql`update product_variants set archived = true where id = ${variant}`
        yield* changesHandled()
        assert.deepStrictEqual((yield* ask)!.variantIds, new Set())
      })
    )
  })
})
