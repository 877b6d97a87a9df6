/** Reports about messages, from the provider's request to the messages that are no longer sent. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { Delivery } from "../../../../src/delivery/Delivery.ts"
import { SentMessages } from "../../../../src/store/message/SentMessages.ts"
import {
  sendGridKeys,
  sendGridRequest,
  standardRequest,
  standardSecret,
  twilioRequest,
  twilioToken
} from "../../../domain/receiver/vectors.ts"
import { layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { admin, aReceiver, aWorker, logOf, postTo } from "./receiverFixture.ts"

const services = SentMessages.layer.pipe(Layer.provideMerge(usherLayer))

/** Asks for a code. Returns the answer, and whether a message went to the address. */
const askForCode = Effect.fnUntraced(function* (address: { readonly email: string } | { readonly phone: string }) {
  const { consumer, brand } = yield* Usher
  const { outbox } = yield* Delivery
  const to = "email" in address ? address.email : address.phone
  const tenant = { organizationId: brand.organizationId, mode: "live" } as const
  const before = outbox!(tenant, to).filter(({ text }) => text !== "").length
  const { status, body } = yield* consumer({
    method: "POST",
    path: "/api/auth/otp/request",
    headers: { "x-publishable-key": brand.publishableKey },
    body: address
  })
  const channel = "email" in address ? "email" : "phone"
  const probe = yield* (yield* Delivery).deliver({ tenant, channel, purpose: "CODE", to, subject: "", text: "" })
  const codes = () => outbox!(tenant, to).filter(({ text }) => text !== "").length - before
  if (probe === "delivered") {
    yield* Effect.repeat(Effect.sync(codes), { until: (count) => count > 0, schedule: Schedule.spaced("5 millis") })
  }
  return { status, keys: Object.keys(body), isSent: codes() > 0 }
})

/** The statuses of the messages to an address, as the Admin API shows them. */
const statusesOf = Effect.fnUntraced(function* (address: string) {
  const { data } = yield* admin("GET", `/messages?address=${encodeURIComponent(address)}`)
  return (data as ReadonlyArray<{ status: string }>).map(({ status }) => status)
})

const inThisMode = Effect.map(Usher, ({ brand }) => ({ organizationId: brand.organizationId, mode: "live" }) as const)

describe("A report about a message", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("of Twilio sets its status, in whatever order reports arrive", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const sent = yield* SentMessages
        const tenant = yield* inThisMode
        const receiver = yield* aReceiver({ adapter: "twilio", secret: twilioToken })
        const signedUrl = `${consumerUrl}${receiver.path}`
        yield* sent.record({ tenant, channel: "phone", purpose: "CODE", to: "+4930123451" }, "SM1", "SENT")
        yield* sent.record({ tenant, channel: "phone", purpose: "CODE", to: "+4930123452" }, "SM2", "SENT")
        const handleAll = yield* aWorker
        for (const [MessageSid, MessageStatus] of [
          ["SM1", "read"],
          ["SM1", "delivered"],
          ["SM2", "undelivered"],
          ["SM3", "delivered"]
        ] as const) {
          const request = twilioRequest({ MessageSid, MessageStatus }, { signedUrl })
          assert.strictEqual((yield* postTo(consumerUrl, receiver, request)).status, 200)
          yield* handleAll
        }
        assert.deepStrictEqual(yield* statusesOf("+4930123451"), ["READ"])
        assert.deepStrictEqual(yield* statusesOf("+4930123452"), ["FAILED"])
        assert.deepStrictEqual(yield* logOf(receiver), [
          "SM1.read DONE MESSAGE_REPORTED",
          "SM1.delivered DONE MESSAGE_REPORTED",
          "SM2.undelivered DONE MESSAGE_REPORTED",
          "SM3.delivered WAITING MESSAGE_UNKNOWN"
        ])
      })
    )

    it.effect("of SendGrid that an address bounced or complained stops mail to it, codes included", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const sent = yield* SentMessages
        const tenant = yield* inThisMode
        const receiver = yield* aReceiver({ adapter: "sendgrid", secret: sendGridKeys.publicKey })
        const [bounced, complained, soft] = ["bounced", "complained", "soft"].map((name) => `${name}@example.com`)
        yield* sent.record({ tenant, channel: "email", purpose: "CODE", to: bounced! }, "<1@example.com>", "SENT")
        const before = yield* askForCode({ email: bounced! })
        assert.isTrue(before.isSent)
        const at = Math.floor(Date.now() / 1_000)
        const batch = [
          { sg_event_id: "a", event: "delivered", email: bounced, timestamp: at, "smtp-id": "<1@example.com>" },
          {
            sg_event_id: "b",
            event: "bounce",
            email: "Bounced@Example.com",
            timestamp: at,
            "smtp-id": "<1@example.com>"
          },
          { sg_event_id: "c", event: "spamreport", email: complained, timestamp: at },
          { sg_event_id: "d", event: "bounce", type: "blocked", email: soft, timestamp: at },
          { sg_event_id: "e", event: "open", email: soft, timestamp: at }
        ]
        const request = sendGridRequest(JSON.stringify(batch), { at: `${at}` })
        const handleAll = yield* aWorker
        for (let time = 0; time < 2; time++) {
          assert.strictEqual((yield* postTo(consumerUrl, receiver, request)).status, 200)
          yield* handleAll
        }
        assert.include(yield* statusesOf(bounced!), "BOUNCED")
        assert.deepStrictEqual((yield* logOf(receiver)).toSorted(), [
          "a DONE MESSAGE_REPORTED",
          "b DONE ADDRESS_STOPPED",
          "c DONE ADDRESS_STOPPED",
          "d WAITING MESSAGE_UNKNOWN",
          "e IGNORED IGNORED"
        ])
        // The answer does not tell which address is stopped.
        for (const email of [bounced!, complained!]) {
          assert.deepStrictEqual(yield* askForCode({ email }), { ...before, isSent: false })
        }
        assert.isTrue((yield* askForCode({ email: soft! })).isSent)
      })
    )

    it.effect("of a sender of Standard Webhooks does the same", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aReceiver({ adapter: "standard", secret: standardSecret })
        const email = "gone@example.com"
        const body = JSON.stringify({ type: "email.bounced", data: { email_id: "m1", to: [email] } })
        const request = standardRequest(body, { at: Math.floor(Date.now() / 1_000), id: "msg_bounced" })
        yield* postTo(consumerUrl, receiver, request)
        yield* yield* aWorker
        assert.deepStrictEqual(yield* logOf(receiver), ["msg_bounced DONE ADDRESS_STOPPED"])
        assert.isFalse((yield* askForCode({ email })).isSent)
      })
    )

    it.effect("that a consumer answered STOP stops SMS to its number, until it answers START", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aReceiver({ adapter: "twilio", secret: twilioToken })
        const signedUrl = `${consumerUrl}${receiver.path}`
        const phone = "+12025550143"
        const handleAll = yield* aWorker
        const answers = Effect.fnUntraced(function* (MessageSid: string, Body: string) {
          const fields = { MessageSid, SmsStatus: "received", From: phone, To: "+12025550100", Body }
          yield* postTo(consumerUrl, receiver, twilioRequest(fields, { signedUrl }))
          yield* handleAll
        })
        assert.isTrue((yield* askForCode({ phone })).isSent)
        yield* answers("SM10", "Stop")
        assert.isFalse((yield* askForCode({ phone })).isSent)
        yield* answers("SM11", "START")
        assert.isTrue((yield* askForCode({ phone })).isSent)
        assert.deepStrictEqual(yield* logOf(receiver), [
          "SM10.received DONE ADDRESS_STOPPED",
          "SM11.received DONE ADDRESS_ALLOWED"
        ])
      })
    )
  })
})
