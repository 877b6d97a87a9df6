import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { PendingDelivery } from "../../../src/store/webhook/PendingDeliveries.ts"
import { type DeliveryResult, WebhookDeliveries } from "../../../src/store/webhook/WebhookDeliveries.ts"
import { Webhooks } from "../../../src/store/webhook/Webhooks.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

const services = Layer.mergeAll(Webhooks.layer, WebhookDeliveries.layer).pipe(Layer.provideMerge(records))

const delivery = (sequence: number): PendingDelivery => ({
  subjectId: randomUUID(),
  sequence,
  part: 0,
  id: `evt_${sequence}`,
  type: "distribution.joined",
  lane: "ada",
  body: "{}",
  attempts: 0
})

const waiting = (sequence: number, retryAt: number | null): DeliveryResult => ({
  delivery: delivery(sequence),
  status: "WAITING",
  retryAt
})

describe("Rounds of one webhook", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("that are recorded at the same time leave no notification behind one that is done", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const deliveries = yield* WebhookDeliveries
        const url = "https://shop.example/"
        const { webhook } = yield* (yield* Webhooks).create(
          yield* aTenant(),
          "test",
          { url, events: ["distribution.joined"] },
          undefined
        )
        const record = (...results: ReadonlyArray<DeliveryResult>) =>
          deliveries.record({ webhookId: webhook.id, results, cursors: [] }, Date.now())
        yield* record(waiting(1, Date.now()))

        const isRecorded = yield* Deferred.make<void>()
        const mayCommit = yield* Deferred.make<void>()
        const former = yield* record({ ...waiting(1, null), status: "DELIVERED" }).pipe(
          Effect.andThen(Deferred.succeed(isRecorded, undefined)),
          Effect.andThen(Deferred.await(mayCommit)),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* Deferred.await(isRecorded)
        const present = yield* Effect.forkChild(record(waiting(2, null)))
        const isBlocked = Effect.map(
          sql`select from pg_locks where not granted`,
          (locks) => locks.length > 0 || present.pollUnsafe() !== undefined
        )
        yield* Effect.repeat(isBlocked, { until: (is) => is, schedule: Schedule.spaced("5 millis") })
        yield* Deferred.succeed(mayCommit, undefined)
        yield* Fiber.join(former)
        yield* Fiber.join(present)

        const held = yield* sql<{ readonly sequence: bigint; readonly due: boolean }>`
          select sequence, retry_at is not null as due from webhook_held where webhook_id = ${webhook.id}`
        assert.deepStrictEqual(
          held.map(({ sequence, due }) => [Number(sequence), due]),
          [[2, true]]
        )
      })
    )
  })
})
