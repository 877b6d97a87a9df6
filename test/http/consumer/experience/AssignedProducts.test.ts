/** The products that the system assigns to consumers, as consumers and shops see them over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { decodeJwt } from "jose"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../../src/domain/values/Ids.ts"
import { aProduct, aVariant } from "../../../store/catalogue/catalogueFixture.ts"
import { eventually } from "../../admin/adminFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { type Guest, Usher } from "../../support/usherFixture.ts"
import { admin, anExperience, aSequence, inExperience } from "./experienceFixture.ts"
import { inMechanism } from "../mechanism/mechanismFixture.ts"

const someProducts = Effect.fnUntraced(function* (count: number) {
  const { brand } = yield* Usher
  const tenant: Tenant = { organizationId: brand.organizationId, mode: "live" }
  return yield* Effect.forEach(Array.from({ length: count }), () => aProduct(tenant))
})

/** Creates an experience with a sequence of such products, and returns the requests of its consumers. */
const aSystemAssigned = Effect.fnUntraced(function* (productIds: ReadonlyArray<string>) {
  const experienceId = yield* anExperience({ products: productIds.map((productId) => ({ productId })) })
  const sequenceProducts = productIds.map((productId) => ({ productId, weight: 1 }))
  const settings = { productSelectionMode: "SYSTEM_ASSIGNED", sequenceProducts }
  const sequenceId = yield* aSequence(experienceId, settings)
  const { get, enter } = yield* inExperience(experienceId)
  const assigned = (guest: Guest) =>
    Effect.map(enter(guest), ({ body }) => body.experience.sequences[0].assignedProductId as string | null)
  return { experienceId, sequenceId, get, assigned }
})

const guests = Effect.fnUntraced(function* (count: number) {
  const { guest } = yield* Usher
  return yield* Effect.forEach(Array.from({ length: count }), () => guest())
})

describe("Products that the system picks", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are shown to each consumer on entering the experience, always the same, and to no other caller", () =>
      Effect.gen(function* () {
        const productIds = yield* someProducts(2)
        const { get, assigned } = yield* aSystemAssigned(productIds)
        const crowd = yield* guests(40)
        const first = yield* Effect.forEach(crowd, assigned)
        // The probability that 40 consumers all get the same of two products is about two in a million million.
        assert.deepStrictEqual(new Set<string | null>(first), new Set(productIds))
        assert.deepStrictEqual(yield* Effect.forEach(crowd, assigned), first)
        const [sequence] = (yield* get).body.sequences
        assert.deepInclude(sequence, { productSelectionMode: "SYSTEM_ASSIGNED", assignedProductId: null })
        assert.notProperty(sequence, "sequenceProducts")
      })
    )

    it.effect("are absent where consumers choose themselves, or no product can be chosen", () =>
      Effect.gen(function* () {
        const [productId] = yield* someProducts(1)
        const experienceId = yield* anExperience()
        const sequenceProducts = [{ productId, weight: 1 }]
        yield* aSequence(experienceId, { sequenceProducts })
        yield* aSequence(experienceId, { sequenceProducts, productSelectionMode: "USER_SELECTED" })
        yield* aSequence(experienceId, { productSelectionMode: "SYSTEM_ASSIGNED" })
        const { enter } = yield* inExperience(experienceId)
        const [someone] = yield* guests(1)
        const { sequences } = (yield* enter(someone!)).body.experience
        assert.deepStrictEqual(
          sequences.map(({ assignedProductId }: { assignedProductId: string | null }) => assignedProductId),
          [null, null, null]
        )
      })
    )

    it.effect("change only for consumers whose product is archived, and no assigned product is archived", () =>
      Effect.gen(function* () {
        const [one, other, third] = (yield* someProducts(3)) as [string, string, string]
        const { experienceId, sequenceId, assigned } = yield* aSystemAssigned([one, other, third])
        const crowd = yield* guests(30)
        const first = yield* Effect.forEach(crowd, assigned)
        yield* admin("PUT", `/experiences/${experienceId}`, { products: [] })
        yield* admin("DELETE", `/products/${third}`)
        const now = yield* eventually(Effect.forEach(crowd, assigned), (picked) => !picked.includes(third))
        assert.deepStrictEqual(
          now.map((productId, index) => (first[index] === third ? "moved" : productId)),
          first.map((productId) => (productId === third ? "moved" : productId))
        )
        assert.notInclude(now, third)
        yield* admin("POST", `/products/${third}/restore`)
        const back = yield* eventually(Effect.forEach(crowd, assigned), (picked) => `${picked}` === `${first}`)
        assert.deepStrictEqual(back, first)
        yield* admin("PUT", `/sequences/${sequenceId}`, { sequenceProducts: [{ productId: other, weight: 1 }] })
        const only = yield* eventually(Effect.forEach(crowd, assigned), (picked) => !picked.includes(one))
        assert.deepStrictEqual([...new Set(only)], [other])
        yield* admin("PUT", `/sequences/${sequenceId}`, { productSelectionMode: "USER_SELECTED" })
        assert.isNull(yield* eventually(assigned(crowd[0]!), (picked) => picked === null))
      })
    )

    it.effect("are named in grants of every kind, which validate as usual", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const { sequenceId, assigned } = yield* aSystemAssigned(yield* someProducts(2))
        const queueId = (yield* admin("POST", "/queues", { sequenceId, name: "Q", admitRate: 0 })).id
        const releaseId = (yield* admin("POST", "/timed-releases", { sequenceId, name: "R" })).id
        const auctionId = (yield* admin("POST", "/auctions", {
          sequenceId,
          name: "A",
          auctionType: "dutch",
          settleAt: new Date(Date.now() + 3_600_000).toISOString(),
          startPrice: "10",
          floorPrice: "5",
          priceDropAmount: "1",
          priceDropIntervalSeconds: 60,
          quantity: 50
        })).id
        const queue = yield* inMechanism("queues", queueId)
        const release = yield* inMechanism("timed-releases", releaseId)
        const auction = yield* inMechanism("auctions", auctionId)
        for (const guest of yield* guests(5)) {
          const { consumerId } = guest
          yield* queue.byConsumer("POST", "/enter")(guest)
          const grants = {
            queue: (yield* queue.byServer("/admit")({ consumerId })).body.admissionGrant,
            release: (yield* release.byConsumer("POST", "/enter")(guest)).body.admissionGrant,
            auction: (yield* auction.byConsumer("POST", "/bid")(guest)).body.admissionGrant
          }
          const productId = yield* assigned(guest)
          for (const token of [grants.queue, grants.release, grants.auction]) {
            const claims = { productId, consumerId, sequenceId, organizationId: brand.organizationId }
            assert.deepInclude(decodeJwt<typeof claims>(token), claims)
          }
          assert.strictEqual((yield* queue.byServer("/validate")({ consumerId, token: grants.queue })).body, true)
          assert.strictEqual((yield* queue.byConsumer("GET", "/status")(guest)).body.admissionGrant, grants.queue)
        }
      })
    )

    it.effect("are not named in grants where consumers choose themselves", () =>
      Effect.gen(function* () {
        const sequenceId = yield* aSequence(yield* anExperience(), { productSelectionMode: "USER_SELECTED" })
        const { id } = yield* admin("POST", "/timed-releases", { sequenceId, name: "R" })
        const release = yield* inMechanism("timed-releases", id)
        const [someone] = yield* guests(1)
        const { admissionGrant } = (yield* release.byConsumer("POST", "/enter")(someone!)).body
        assert.notProperty(decodeJwt(admissionGrant), "productId")
      })
    )

    it.effect("restrict a timed release to the variants of the consumer's own product", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const tenant: Tenant = { organizationId: brand.organizationId, mode: "live" }
        const productIds = yield* someProducts(2)
        const variants = new Map<string, ReadonlyArray<string>>()
        for (const productId of productIds) {
          variants.set(productId, [yield* aVariant(tenant, productId), yield* aVariant(tenant, productId)])
        }
        const { sequenceId, assigned } = yield* aSystemAssigned(productIds)
        const openAt = new Date(Date.now() + 3_600_000).toISOString()
        const early = yield* inMechanism(
          "timed-releases",
          (yield* admin("POST", "/timed-releases", { sequenceId, name: "Early", openAt })).id
        )
        const release = yield* inMechanism(
          "timed-releases",
          (yield* admin("POST", "/timed-releases", { sequenceId, name: "R" })).id
        )
        const enter = release.byConsumer("POST", "/enter")
        for (const guest of yield* guests(4)) {
          const own = (yield* assigned(guest))!
          const [small, large] = variants.get(own)!
          const [foreign] = variants.get(productIds.find((id) => id !== own)!)!
          assert.strictEqual((yield* early.byConsumer("POST", "/enter")(guest, { variantId: foreign })).status, 423)
          for (const variantId of [foreign, randomUUID()]) {
            const refused = yield* enter(guest, { variantId })
            assert.deepStrictEqual([refused.status, refused.body], [404, { error: "Variant not found" }])
          }
          assert.strictEqual((yield* enter(guest, { variantId: small })).body.selectedVariantId, small)
          assert.strictEqual((yield* enter(guest, { variantId: foreign })).status, 404)
          assert.strictEqual((yield* enter(guest, { variantId: large })).body.selectedVariantId, large)
          assert.strictEqual((yield* enter(guest)).body.selectedVariantId, large)
        }
      })
    )
  })
})
