/** What providers report about messages, and the addresses that get no more. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MessageStatus } from "../../../src/domain/receiver/Meaning.ts"
import { SentMessages } from "../../../src/store/message/SentMessages.ts"
import { StoppedAddresses } from "../../../src/store/message/StoppedAddresses.ts"
import { Receivers } from "../../../src/store/receiver/Receivers.ts"
import { aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const services = Layer.mergeAll(Receivers.layer, SentMessages.layer, StoppedAddresses.layer).pipe(
  Layer.provideMerge(records)
)

describe("A sent message", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has the most telling of the reports, in whatever order they arrive", () =>
      Effect.gen(function* () {
        const sent = yield* SentMessages
        const tenant = yield* aTenant()
        const statuses = MessageStatus.literals
        for (const [index, first] of statuses.entries()) {
          for (const [other, second] of statuses.entries()) {
            const id = `${first}-${second}`
            yield* sent.sent(tenant, "email", id)
            assert.isTrue(yield* sent.report(tenant, "email", ["unknown", id], first))
            yield* sent.sent(tenant, "email", id)
            assert.isTrue(yield* sent.report(tenant, "email", [id], second))
            assert.strictEqual(yield* sent.status(tenant, "email", id), statuses[Math.max(index, other)])
          }
        }
      })
    )

    it.effect("of another tenant, mode or channel is not known", () =>
      Effect.gen(function* () {
        const sent = yield* SentMessages
        const tenant = yield* aTenant()
        yield* sent.sent(tenant, "phone", "SM1")
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          assert.isFalse(yield* sent.report(stranger, "phone", ["SM1"], "FAILED"))
        }
        assert.isFalse(yield* sent.report(tenant, "email", ["SM1"], "FAILED"))
        assert.isFalse(yield* sent.report(tenant, "phone", [], "FAILED"))
        assert.strictEqual(yield* sent.status(tenant, "phone", "SM1"), "SENT")
      })
    )
  })
})

describe("A stopped address", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("is stopped in one tenant and channel, however it is written", () =>
      Effect.gen(function* () {
        const stopped = yield* StoppedAddresses
        const tenant = yield* aTenant()
        const { id } = yield* (yield* Receivers).create(tenant, "test", { adapter: "sendgrid" }, "a public key")
        yield* stopped.stop(tenant, id, "email", ["Ann@Example.com", "ann@example.com", "bob@example.com"], "BOUNCED")
        for (const address of ["ann@example.com", " ANN@example.com", "bob@example.com"]) {
          assert.isTrue(yield* stopped.isStopped(tenant, "email", address))
        }
        assert.isFalse(yield* stopped.isStopped(tenant, "email", "eve@example.com"))
        assert.isFalse(yield* stopped.isStopped(tenant, "phone", "ann@example.com"))
        assert.isFalse(yield* stopped.isStopped(inTestMode(tenant), "email", "ann@example.com"))
        assert.isFalse(yield* stopped.isStopped(yield* aTenant(), "email", "ann@example.com"))
      })
    )

    it.effect("is allowed again by its consumer, unless it bounced", () =>
      Effect.gen(function* () {
        const stopped = yield* StoppedAddresses
        const tenant = yield* aTenant()
        const { id } = yield* (yield* Receivers).create(tenant, "test", { adapter: "twilio" }, "a token of Twilio")
        yield* stopped.stop(tenant, id, "phone", ["+49301", "+49302"], "OPTED_OUT")
        yield* stopped.stop(tenant, id, "phone", ["+49302"], "BOUNCED")
        yield* stopped.stop(tenant, id, "phone", ["+49302"], "OPTED_OUT")
        for (const address of ["+49301", "+49302"]) yield* stopped.allow(tenant, "phone", address)
        assert.isFalse(yield* stopped.isStopped(tenant, "phone", "+49301"))
        assert.isTrue(yield* stopped.isStopped(tenant, "phone", "+49302"))
      })
    )
  })
})
