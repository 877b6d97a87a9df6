import { assert, describe, it } from "@effect/vitest"
import { EventWebhook } from "@sendgrid/eventwebhook"
import { generateKeyPairSync, sign } from "node:crypto"
import { rejected } from "../../../src/domain/receiver/Adapter.ts"
import { eventsMax, meaningOf, receive } from "../../../src/domain/receiver/SendGrid.ts"
import { now, requestOf, seconds, sendGridKeys, sendGridRequest } from "./vectors.ts"

const secret = sendGridKeys.publicKey
const event = (id: string, kind: string, more: object = {}) => ({
  sg_event_id: id,
  event: kind,
  email: "ann@example.com",
  timestamp: seconds,
  ...more
})
const body = JSON.stringify([event("e1", "delivered"), event("e2", "bounce")])
const libraryAccepts = ({ headers }: ReturnType<typeof sendGridRequest>, text: string) => {
  const library = new EventWebhook()
  return library.verifySignature(
    library.convertPublicKeyToECDSA(secret),
    text,
    headers["x-twilio-email-event-webhook-signature"]!,
    headers["x-twilio-email-event-webhook-timestamp"]!
  )
}

describe("A request of SendGrid", () => {
  it("is accepted if SendGrid's library accepts it, with each event of the batch", () => {
    const request = sendGridRequest(body)
    const outcome = receive(request, secret, now)
    assert.deepStrictEqual(
      outcome._tag === "Received" && outcome.events.map(({ id, type, at }) => ({ id, type, at })),
      [
        { id: "e1", type: "delivered", at: now },
        { id: "e2", type: "bounce", at: now }
      ]
    )
    assert.isTrue(libraryAccepts(request, body))
  })

  it("is refused with another key, an altered body or an altered time, as SendGrid's library does", () => {
    const { headers } = sendGridRequest(body)
    const later = { ...headers, "x-twilio-email-event-webhook-timestamp": `${seconds + 1}` }
    const other = sendGridRequest(body, { key: generateKeyPairSync("ec", { namedCurve: "prime256v1" }).privateKey })
    for (const request of [other, requestOf(headers, `${body} `), requestOf(later, body)]) {
      assert.deepStrictEqual(receive(request, secret, now), rejected("WRONG_SIGNATURE"))
      assert.isFalse(libraryAccepts(request, Buffer.from(request.rawBody).toString()))
    }
  })

  it("is refused if it is older than the log of received events surely reaches", () => {
    const request = sendGridRequest(body)
    assert.strictEqual(receive(request, secret, now + 3 * 86_400_000)._tag, "Received")
    assert.deepStrictEqual(receive(request, secret, now + 3 * 86_400_000 + 1_000), rejected("NOT_RECENT"))
    assert.deepStrictEqual(receive(request, secret, now - 301_000), rejected("NOT_RECENT"))
    assert.deepStrictEqual(receive(sendGridRequest(body, { at: "soon" }), secret, now), rejected("NOT_RECENT"))
  })

  it("is refused without its headers, with a signature that is none, and with a secret that is no key", () => {
    const { headers } = sendGridRequest(body)
    for (const name of Object.keys(headers)) {
      const request = requestOf({ ...headers, [name]: undefined }, body)
      assert.deepStrictEqual(receive(request, secret, now), rejected("MISSING_SIGNATURE"))
    }
    const garbled = requestOf({ ...headers, "x-twilio-email-event-webhook-signature": "AAAA" }, body)
    assert.deepStrictEqual(receive(garbled, secret, now), rejected("WRONG_SIGNATURE"))
    assert.deepStrictEqual(receive(sendGridRequest(body), "not a key", now), rejected("WRONG_SIGNATURE"))
  })

  it("loses no other event for one that cannot be read", () => {
    const good = [event("e1", "bounce"), event("e2", "delivered")]
    const idsWith = (text: string) => {
      const outcome = receive(sendGridRequest(text), secret, now)
      return outcome._tag === "Received" ? outcome.events.map(({ id }) => id) : outcome.reason
    }
    for (const bad of [
      null,
      "text",
      {},
      { sg_event_id: "e3" },
      event("e3", ""),
      event("e3", "x".repeat(101)),
      event("e3", "open\u0000"),
      [event("e3", "open")]
    ]) {
      assert.deepStrictEqual(idsWith(JSON.stringify([good[0], bad, good[1]])), ["e1", "e2"])
    }
    const bytes = Buffer.from(JSON.stringify([good[0], event("e3", "open", { useragent: "~" }), good[1]]))
    bytes[bytes.indexOf("~")] = 0xff
    const body = bytes.toString("latin1")
    const headers = sendGridRequest(body).headers
    const signature = sign("sha256", Buffer.concat([Buffer.from(`${seconds}`), bytes]), sendGridKeys.privateKey)
    const request = {
      ...requestOf({ ...headers, "x-twilio-email-event-webhook-signature": signature.toString("base64") }, ""),
      rawBody: bytes
    }
    const outcome = receive(request, secret, now)
    assert.deepStrictEqual(outcome._tag === "Received" && outcome.events.map(({ id }) => id), ["e1", "e3", "e2"])
  })

  it("is read with events that have no id of their own, or no time", () => {
    const unnamed = { email: "x@example.com", event: "group_unsubscribe", asm_group_id: 10 }
    const read = (items: ReadonlyArray<object>) => {
      const outcome = receive(sendGridRequest(JSON.stringify(items)), secret, now)
      return outcome._tag === "Received" ? outcome.events : assert.fail(outcome.reason)
    }
    const first = read([unnamed, { ...unnamed, asm_group_id: 11 }, { ...unnamed, sg_event_id: "x".repeat(256) }])
    assert.strictEqual(new Set(first.map(({ id }) => id)).size, 3)
    assert.deepStrictEqual(first[0], read([unnamed])[0])
    assert.strictEqual(first[0]!.at, now)
    for (const timestamp of ["soon", -1, null, 1e12]) assert.strictEqual(read([{ ...unnamed, timestamp }])[0]!.at, now)
    assert.strictEqual(read([{ ...unnamed, timestamp: 1_700_000_000 }])[0]!.at, 1_700_000_000_000)
  })

  it("is malformed if no event can be read, or there are too many", () => {
    const tooMany = JSON.stringify(
      Array.from({ length: eventsMax + 1 }, (_, n) => ({ ...event(`${n}`, "open"), email: undefined }))
    )
    for (const text of ["{}", "[{}]", JSON.stringify([{ sg_event_id: "e1" }, 1]), "[", tooMany]) {
      assert.deepStrictEqual(receive(sendGridRequest(text), secret, now), rejected("MALFORMED"))
    }
  })
})

describe("An event of SendGrid", () => {
  const meaning = (kind: string, more: object = {}) => meaningOf(kind, JSON.stringify(event("e1", kind, more)))
  const report = { _tag: "MessageReported", channel: "email", messageIds: ["<1@shop>", "abc"] } as const
  const ids = { "smtp-id": "<1@shop>", sg_message_id: "abc.filter0001.123" }

  it("reports a delivery, a bounce and a complaint", () => {
    const stopped = ["ann@example.com"]
    assert.deepStrictEqual(meaning("delivered", ids), { ...report, status: "DELIVERED", stopped: [] })
    assert.deepStrictEqual(meaning("bounce", ids), { ...report, status: "BOUNCED", stopped })
    assert.deepStrictEqual(meaning("spamreport", ids), { ...report, status: "COMPLAINED", stopped })
  })

  it("of a soft bounce stops nothing", () => {
    assert.deepStrictEqual(meaning("bounce", { ...ids, type: "blocked" }), { ...report, status: "FAILED", stopped: [] })
  })

  it("names its message by text that the database can look up", () => {
    const report = meaning("bounce", { "smtp-id": "<1\u0000>", sg_message_id: "a\ud800.f" })
    assert.deepStrictEqual("messageIds" in report && report.messageIds, ["<1\uFFFD>", "a\uFFFD"])
  })

  it("of another kind means nothing", () => {
    assert.deepStrictEqual(meaning("open"), { _tag: "Nothing" })
    assert.deepStrictEqual(meaningOf("bounce", "{}"), { _tag: "Nothing" })
  })
})
