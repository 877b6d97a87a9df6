/** The products in webhooks of sequences that assign them. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { AssignedProducts } from "../../src/store/experience/AssignedProducts.ts"
import { Experiences } from "../../src/store/experience/Experiences.ts"
import { Sequences } from "../../src/store/experience/Sequences.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Invalidations } from "../../src/store/coordination/Invalidations.ts"
import { WebhookOutbox } from "../../src/store/webhook/WebhookOutbox.ts"
import * as JournalReader from "../../src/workers/webhook/JournalReader.ts"
import { Throttle } from "../../src/workers/webhook/Pace.ts"
import { aProduct, aVariant } from "../store/catalogue/catalogueFixture.ts"
import { aQueue, inTestMode } from "../store/support/recordsFixture.ts"
import { aWebhook, aWorld, entered, services } from "./support/webhookWorld.ts"

const memory = AssignedProducts.layer.pipe(Layer.provide(Invalidations.layer), Layer.provideMerge(services))

describe("A webhook", () => {
  layer(memory, { excludeTestServices: true })((it) => {
    it.effect("names the product that the system assigned, with every event of the consumer", () =>
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
              ["distribution.joined", product!.productId],
              ["distribution.admitted", product!.productId]
            ]
          )
        }
      })
    )

    it.effect("names the only product of the sequence, or of the experience, and none of several", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { tenant, receiver, worker } = yield* aWorld
        const experiences = yield* Experiences
        const sequences = yield* Sequences
        yield* aWebhook(tenant, receiver.url)
        const [one, other] = [yield* aProduct(tenant), yield* aProduct(tenant)]
        const archived = yield* aProduct(tenant, {}, { archived: true })
        const foreign = yield* aProduct(inTestMode(tenant))
        for (const [ofExperience, ofSequence, expected] of [
          [[one], [], one],
          [[one], undefined, one],
          [[one, other], [], undefined],
          [[one, other], [other], other],
          [[one], [one, other], undefined],
          [[one, archived], [], one],
          [[one, foreign], [], one],
          [[], [], undefined],
          [[], [other], other]
        ] as const) {
          const settings = { name: "Drop", timeZone: "UTC", currencyCode: "USD" }
          const experience = yield* experiences.create(tenant, "x", settings)
          for (const [position, productId] of ofExperience.entries()) {
            yield* sql`
              insert into experience_products (id, organization_id, experience_id, product_id, position)
              values (${randomUUID()}, ${tenant.organizationId}, ${experience.id}, ${productId}, ${position})`
          }
          const sequence = yield* sequences.create(tenant, "x", experience.id, {
            name: "Sale",
            priority: 0,
            ...(ofSequence && { sequenceProducts: ofSequence.map((productId) => ({ productId, weight: 1 })) })
          })
          const queue = yield* aQueue(tenant, { experienceId: experience.id, sequenceId: sequence.id })
          const [consumerId] = yield* entered(queue.id, 1)
          yield* worker.all
          const seen = receiver.received.filter((request) => request.consumerId === consumerId)
          assert.deepStrictEqual(
            seen.map(({ body }) => JSON.parse(body).data.product_id),
            [expected, expected],
            JSON.stringify([ofExperience, ofSequence])
          )
        }
      })
    )

    it.effect("names the product of the selected variant, also in events that name no variant", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { tenant, receiver, worker, queue } = yield* aWorld
        yield* aWebhook(tenant, receiver.url, { events: ["distribution.joined", "distribution.left"] })
        const products = [yield* aProduct(tenant), yield* aProduct(tenant)]
        const [first, second] = yield* Effect.forEach(products, (productId) => aVariant(tenant, productId))
        const journal = yield* Journal
        const release = { id: randomUUID(), experienceId: queue.experienceId, sequenceId: queue.sequenceId }
        const configuration = { name: "Sale", timeZone: "UTC", supportsGuest: true }
        yield* journal.create([
          {
            identity: { ...tenant, ...release, kind: "timed_release" },
            createdBy: "test",
            commit: {
              mechanismId: release.id,
              kind: "timed_release",
              expectedSequence: 0,
              events: [{ _tag: "Configured", at: 1, configuration, by: "test" }] as never,
              places: [],
              wakeAt: null,
              record: {
                configuration,
                status: { statusOverride: null, statusOverrideAt: null, statusOverrideBy: null, teardownStatus: null },
                archived: false,
                updatedAt: 1,
                updatedBy: "test"
              }
            }
          }
        ])
        const at = Date.now()
        const enteredWith = (variantId?: string) => ({
          _tag: "Entered",
          at,
          consumerId: randomUUID(),
          ...(variantId !== undefined && { variantId })
        })
        const events = [enteredWith(first), enteredWith(second), enteredWith()]
        yield* journal.append({
          mechanismId: release.id,
          kind: "timed_release",
          expectedSequence: 1,
          events: events.flatMap((one) => [one, { _tag: "Left", at, consumerId: one.consumerId }]) as never,
          places: [],
          wakeAt: null
        })
        for (const [index, variantId] of [first, second].entries()) {
          yield* sql`
            insert into places (mechanism_id, consumer_id, status, entered_at, updated_at, fields)
            values (${release.id}, ${events[index]!.consumerId}, 'LEFT', now(), now(),
              ${JSON.stringify({ selectedVariantId: variantId })}::text::jsonb)`
        }
        yield* worker.all
        for (const [index, { consumerId }] of events.entries()) {
          const seen = receiver.received.filter((request) => request.consumerId === consumerId)
          assert.deepStrictEqual(
            seen.map(({ body }) => JSON.parse(body).data.product_id),
            [products[index], products[index]]
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
        const { deliveries } = yield* Effect.flatMap(JournalReader.make, (read) => read(endpoint)).pipe(
          Effect.provide(neverAsked)
        )
        assert.lengthOf(deliveries, 4)
        for (const { body } of deliveries) assert.notProperty(JSON.parse(body).data, "product_id")
      }).pipe(Effect.provide(WebhookOutbox.layer), Effect.provideService(Throttle, Throttle.none))
    )
  })
})
