/** Batches of SendGrid over real HTTP, up to the longest that is accepted. */
import { assert, describe, layer } from "@effect/vitest"
import { EventWebhook } from "@sendgrid/eventwebhook"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { InboundRequest } from "../../../../src/domain/receiver/Adapter.ts"
import { sendGridKeys, sendGridRequest } from "../../../domain/receiver/vectors.ts"
import { layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { aReceiver, postTo } from "./receiverFixture.ts"

const bytesMax = 1_048_576
const at = Math.floor(Date.now() / 1_000)

/** The text of a batch of so many bytes, and the number of its events. They are as long as those of SendGrid. */
const batchOf = (bytes: number) => {
  const events: Array<string> = []
  let length = 1
  for (;;) {
    const event = JSON.stringify({
      email: `shopper.${events.length}@example.com`,
      timestamp: at,
      "smtp-id": `<14c5d75ce93.dfd.${events.length}@ismtpd-555>`,
      event: "processed",
      category: ["drop", "admission"],
      sg_event_id: `cHJvY2Vzc2VkLTI4NDk1MzMtZ2VZZk-${events.length}`,
      sg_message_id: `geYfkAWbQVqBnvnR7l2ZAA.recvd-6b5f8c9f4-${events.length}`
    })
    if (length + event.length + 1 > bytes) break
    events.push(event)
    length += event.length + 1
  }
  const text = `[${events.join(",")}]`
  return { text: text.padEnd(bytes), count: events.length }
}

const libraryAccepts = ({ headers, rawBody }: InboundRequest): boolean => {
  const library = new EventWebhook()
  return library.verifySignature(
    library.convertPublicKeyToECDSA(sendGridKeys.publicKey),
    Buffer.from(rawBody),
    headers["x-twilio-email-event-webhook-signature"]!,
    headers["x-twilio-email-event-webhook-timestamp"]!
  )
}

describe("A batch of SendGrid", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    const post = Effect.fnUntraced(function* (receiver: { readonly path: string }, text: string) {
      const { consumerUrl } = yield* Usher
      const request = sendGridRequest(text, { at: `${at}` })
      assert.isTrue(libraryAccepts(request))
      return yield* postTo(consumerUrl, receiver, request)
    })
    const writtenFor = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ readonly count: number }>`
        select count(*)::int as count from received_events where receiver_id = ${id}`
      return row!.count
    })
    const aMailReceiver = aReceiver({ adapter: "sendgrid", secret: sendGridKeys.publicKey })

    it.effect("of 1 MiB is split into its events, each written once", () =>
      Effect.gen(function* () {
        const receiver = yield* aMailReceiver
        const { text, count } = batchOf(bytesMax)
        assert.isAbove(count, 3_000)
        for (let time = 0; time < 2; time++) assert.strictEqual((yield* post(receiver, text)).status, 200)
        assert.strictEqual(yield* writtenFor(receiver), count)
      })
    )

    it.effect("of one byte more gets a 413 as soon as its length is known", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aMailReceiver
        const { headers, rawBody } = sendGridRequest("[]", { at: `${at}` })
        // The rest of the body never comes.
        const large = { headers: { ...headers, "content-length": `${bytesMax + 1}` }, rawBody }
        const answer = yield* postTo(consumerUrl, receiver, large)
        assert.deepStrictEqual([answer.status, answer.body], [413, { error: "Request body is larger than 1024 KiB" }])
        assert.strictEqual(yield* writtenFor(receiver), 0)
      })
    )

    it.effect("is refused by its signature before its JSON is looked at", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aMailReceiver
        const { headers } = sendGridRequest("[]", { at: `${at}` })
        const deep = "[".repeat(bytesMax)
        const answer = yield* postTo(consumerUrl, receiver, { headers, rawBody: Buffer.from(deep) })
        assert.deepStrictEqual([answer.status, answer.body.code], [401, "WRONG_SIGNATURE"])
        const signed = yield* post(receiver, deep)
        assert.deepStrictEqual([signed.status, signed.body.code], [400, "MALFORMED"])
      })
    )
  })
})
