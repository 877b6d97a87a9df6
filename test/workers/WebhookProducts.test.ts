/** The products in webhooks of sequences that assign them. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AssignedProducts } from "../../src/store/experience/AssignedProducts.ts"
import { Experiences } from "../../src/store/experience/Experiences.ts"
import { Sequences } from "../../src/store/experience/Sequences.ts"
import { Invalidations } from "../../src/store/coordination/Invalidations.ts"
import { WebhookOutbox } from "../../src/store/webhook/WebhookOutbox.ts"
import * as Reading from "../../src/workers/webhook/Reading.ts"
import { Throttle } from "../../src/workers/webhook/Throttle.ts"
import { aProduct } from "../store/catalogue/catalogueFixture.ts"
import { aQueue } from "../store/support/recordsFixture.ts"
import { aWebhook, aWorld, entered, services } from "./support/webhookWorld.ts"

const memory = AssignedProducts.layer.pipe(Layer.provide(Invalidations.layer), Layer.provideMerge(services))

describe("A webhook", () => {
  layer(memory, { excludeTestServices: true })((it) => {
    it.effect("names the product that the system assigned, with the admission alone", () =>
      Effect.gen(function* () {
        const { tenant, receiver, worker } = yield* aWorld
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        const experience = yield* experiences.create(tenant, "x", {
          name: "Drop",
          timeZone: "UTC",
          currencyCode: "USD"
        })
        const products = yield* Effect.all([aProduct(tenant), aProduct(tenant)])
        const sequence = yield* sequences.create(tenant, "x", experience.id, {
          name: "Sale",
          priority: 0,
          productSelectionMode: "SYSTEM_ASSIGNED",
          sequenceProducts: products.map((productId) => ({ productId, weight: 1 }))
        })
        const queue = yield* aQueue(tenant, { experienceId: experience.id, sequenceId: sequence.id })
        yield* aWebhook(tenant, receiver.url)
        const consumerIds = yield* entered(queue.id, 8)
        yield* worker.all
        const assigned = yield* AssignedProducts
        for (const consumerId of consumerIds) {
          const product = yield* assigned.of({ ...tenant, sequenceId: sequence.id }, consumerId)
          const seen = receiver.received.filter((request) => request.consumerId === consumerId)
          assert.deepStrictEqual(
            seen.map(({ type, body }) => [type, JSON.parse(body).data.product_id]),
            [
              ["distribution.joined", undefined],
              ["distribution.admitted", product!.productId]
            ]
          )
        }
      })
    )

    it.effect("asks for no product where the sequence assigns none", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue } = yield* aWorld
        const { webhook } = yield* aWebhook(tenant, receiver.url)
        yield* entered(queue.id, 2)
        const neverAsked = Layer.succeed(AssignedProducts, { of: () => Effect.die("asked") })
        const endpoint = (yield* (yield* WebhookOutbox).endpoints(Date.now())).find(({ id }) => id === webhook.id)!
        const { found } = yield* Effect.flatMap(Reading.make, (read) => read(endpoint)).pipe(Effect.provide(neverAsked))
        assert.lengthOf(found, 4)
        for (const { body } of found) assert.notProperty(JSON.parse(body).data, "product_id")
      }).pipe(Effect.provide(WebhookOutbox.layer), Effect.provideService(Throttle, Throttle.none))
    )
  })
})
