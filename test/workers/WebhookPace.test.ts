/** How fast a process delivers. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aProcessWith, aWebhook, aWorld, clock, entered, services } from "./support/webhookWorld.ts"

describe("The pace of deliveries", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("falls to a tenth while consumers keep the process busy, and loses nothing", () =>
      Effect.gen(function* () {
        const { tenant, receiver, queue } = yield* aWorld
        let share = 0.1
        const worker = yield* aProcessWith({ share: Effect.sync(() => share) })
        yield* aWebhook(tenant, receiver.url)
        // From ten seconds after the start on, a round reads up to 1,000 events.
        yield* clock.putForward(10_000)
        yield* entered(queue.id, 150)
        yield* worker.round
        assert.lengthOf(receiver.received, 100)
        share = 1
        yield* worker.round
        assert.lengthOf(receiver.received, 300)
        assert.lengthOf(new Set(receiver.received.map(({ id }) => id)), 300)
      })
    )
  })
})
