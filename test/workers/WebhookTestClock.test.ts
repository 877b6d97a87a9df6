/** Webhooks of test mode under a test clock. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { TestClock } from "../../src/domain/organization/TestClock.ts"
import { TestClocks } from "../../src/store/testClock/TestClocks.ts"
import { aQueue, aTenant, inTestMode } from "../store/support/recordsFixture.ts"
import { aReceiver } from "./support/webhookReceiver.ts"
import { aProcess, aWebhook, entered, services } from "./support/webhookWorld.ts"

describe("Webhooks under a test clock", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("are sent only if it names them, and never learn what happened meanwhile", () =>
      Effect.gen(function* () {
        const live = yield* aTenant()
        const tenant = inTestMode(live)
        const receivers = { named: yield* aReceiver, other: yield* aReceiver, live: yield* aReceiver }
        const { webhook: named } = yield* aWebhook(tenant, receivers.named.url)
        yield* aWebhook(tenant, receivers.other.url)
        yield* aWebhook(live, receivers.live.url)
        let clock: TestClock | undefined = {
          organizationId: tenant.organizationId,
          frozenAt: 0,
          seed: "seven",
          webhookIds: [named.id]
        }
        const clocks = yield* TestClocks
        const find: TestClocks["find"] = ({ mode }) => Effect.sync(() => (mode === "live" ? undefined : clock))
        const worker = yield* Effect.provideService(aProcess, TestClocks, { ...clocks, find })
        const queue = yield* aQueue(tenant)
        yield* entered(queue.id, 3)
        yield* entered((yield* aQueue(live)).id, 1)
        yield* worker.all
        const counts = () => Object.values(receivers).map(({ received }) => received.length)
        assert.deepStrictEqual(counts(), [6, 0, 2])
        clock = undefined
        yield* entered(queue.id, 1, 7)
        yield* worker.all
        assert.deepStrictEqual(counts(), [8, 2, 2])
      })
    )
  })
})
