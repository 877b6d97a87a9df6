/** What providers report about messages, and the addresses that get no more. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { MessageStatus } from "../../../src/domain/receiver/Meaning.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { SentMessages } from "../../../src/store/message/SentMessages.ts"
import { StoppedAddresses } from "../../../src/store/message/StoppedAddresses.ts"
import { Receivers } from "../../../src/store/receiver/Receivers.ts"
import { RecordNotFound } from "../../../src/store/records/RecordNotFound.ts"
import { aConsumer, aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const services = Layer.mergeAll(Receivers.layer, SentMessages.layer, StoppedAddresses.layer).pipe(
  Layer.provideMerge(records)
)

const mail = (tenant: Tenant, to: string) => ({ tenant, channel: "email", purpose: "CODE", to }) as const
const sms = (tenant: Tenant, to: string) => ({ tenant, channel: "phone", purpose: "CODE", to }) as const

/** The statuses of the messages to an address, oldest first. */
const statusesOf = Effect.fnUntraced(function* (tenant: Tenant, address: string) {
  const { data } = yield* (yield* SentMessages).list(tenant, { address })
  return data.map(({ status }) => status)
})

describe("A sent message", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has the most conclusive of the reports, in any order of arrival", () =>
      Effect.gen(function* () {
        const sent = yield* SentMessages
        const tenant = yield* aTenant()
        const statuses = MessageStatus.literals
        for (const [index, first] of statuses.entries()) {
          for (const [other, second] of statuses.entries()) {
            const id = `${first}-${second}`
            const to = `${id}@example.com`
            yield* sent.record(mail(tenant, to), id, "SENT")
            assert.isTrue(yield* sent.report(tenant, "email", ["unknown", id], first))
            yield* sent.record(mail(tenant, to), id, "SENT")
            assert.isTrue(yield* sent.report(tenant, "email", [id], second))
            assert.deepStrictEqual(yield* statusesOf(tenant, to), [statuses[Math.max(index, other)]])
          }
        }
      })
    )

    it.effect("of another tenant, mode or channel is not known", () =>
      Effect.gen(function* () {
        const sent = yield* SentMessages
        const tenant = yield* aTenant()
        yield* sent.record(sms(tenant, "+49301"), "SM1", "SENT")
        const [{ id } = { id: "" }] = (yield* sent.list(tenant, {})).data
        assert.deepInclude(yield* sent.find(tenant, id), { address: "+49301", status: "SENT" })
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          assert.isFalse(yield* sent.report(stranger, "phone", ["SM1"], "FAILED"))
          assert.instanceOf(yield* Effect.flip(sent.find(stranger, id)), RecordNotFound)
          assert.deepStrictEqual(yield* statusesOf(stranger, "+49301"), [])
        }
        assert.isFalse(yield* sent.report(tenant, "email", ["SM1"], "FAILED"))
        assert.isFalse(yield* sent.report(tenant, "phone", [], "FAILED"))
        assert.deepStrictEqual(yield* statusesOf(tenant, "+49301"), ["SENT"])
      })
    )

    it.effect("is remembered each time if its provider gives no id, or if it could not be sent", () =>
      Effect.gen(function* () {
        const sent = yield* SentMessages
        const tenant = yield* aTenant()
        yield* sent.record(mail(tenant, "Ann@Example.com"), undefined, "SENT")
        yield* sent.record(mail(tenant, "ann@example.com"), undefined, "FAILED")
        assert.sameMembers(yield* statusesOf(tenant, "ANN@example.com"), ["SENT", "FAILED"])
      })
    )

    it.effect("is a consumer's if it names the consumer, or went to its address", () =>
      Effect.gen(function* () {
        const sent = yield* SentMessages
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant, { email: "Ann@example.com", phone: "+49302" })
        yield* sent.record({ ...mail(tenant, "former@example.com"), consumerId }, undefined, "SENT")
        yield* sent.record(mail(tenant, "ann@example.com"), undefined, "SENT")
        yield* sent.record(sms(tenant, "+49302"), undefined, "SENT")
        yield* sent.record(mail(tenant, "bob@example.com"), undefined, "SENT")
        const { data } = yield* sent.list(tenant, { consumerId })
        assert.sameMembers(
          data.map(({ address }) => address),
          ["former@example.com", "ann@example.com", "+49302"]
        )
        assert.isEmpty((yield* sent.list(yield* aTenant(), { consumerId })).data)
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
        yield* stopped.stop(tenant, id, "email", ["zoe@xn--bcher-kva.example"], "BOUNCED")
        yield* stopped.stop(tenant, id, "phone", ["+49 (30) 1"], "OPTED_OUT")
        for (const address of ["zoe@bücher.example", "ZOE@bu\u0308cher.example", "zoe@ｂüｃｈｅｒ。example"]) {
          assert.isTrue(yield* stopped.isStopped(tenant, "email", address), address)
        }
        for (const number of ["+49301", "＋49-30-1", "+٤٩٣٠١"]) {
          assert.isTrue(yield* stopped.isStopped(tenant, "phone", number), number)
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
        for (const address of ["+49301", "+49302"]) {
          yield* stopped.allow(tenant, `receiver:${id}`, "phone", address)
        }
        assert.isFalse(yield* stopped.isStopped(tenant, "phone", "+49301"))
        assert.isTrue(yield* stopped.isStopped(tenant, "phone", "+49302"))
      })
    )
  })
})
