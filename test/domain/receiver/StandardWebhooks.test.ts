import { assert, describe, it } from "@effect/vitest"
import { Webhook } from "standardwebhooks"
import { signatureHeaders } from "../../../src/delivery/webhook/Signature.ts"
import { rejected } from "../../../src/domain/receiver/Adapter.ts"
import { meaningOf, receive } from "../../../src/domain/receiver/StandardWebhooks.ts"
import { now, requestOf, seconds, standardRequest, standardSecret as secret } from "./vectors.ts"

const body = JSON.stringify({ type: "email.delivered", data: { email_id: "m1", to: ["ann@example.com"] } })
const accepted = { _tag: "Received" as const, events: [{ id: "msg_1", type: "email.delivered", at: now, body }] }

describe("A request of a sender of Standard Webhooks", () => {
  it("is accepted if one of the libraries has signed it, with either name of the headers", () => {
    for (const prefix of ["webhook", "svix"]) {
      assert.deepStrictEqual(receive(standardRequest(body, { prefix }), secret, now), accepted)
    }
    const { headers } = standardRequest(body)
    const signature = new Webhook(secret).sign("msg_1", new Date(now), body)
    const request = requestOf({ ...headers, "webhook-signature": signature }, body)
    assert.deepStrictEqual(receive(request, secret, now), accepted)
  })

  it("is accepted as Usher's own webhooks are signed, with Base64 and plain secrets", () => {
    for (const own of [secret, "a plain secret of an organization"]) {
      const headers = signatureHeaders({ id: "msg_1", timestampSeconds: seconds, body }, [own, "a former secret"])
      assert.deepStrictEqual(receive(requestOf(headers, body), own, now), accepted)
    }
  })

  it("is refused with a wrong secret, an altered body, time or id", () => {
    const { headers } = standardRequest(body)
    for (const request of [
      standardRequest(body, { secret: `whsec_${Buffer.from("another secret").toString("base64")}` }),
      requestOf(headers, `${body} `),
      requestOf({ ...headers, "webhook-timestamp": `${seconds + 1}` }, body),
      requestOf({ ...headers, "webhook-id": "msg_2" }, body),
      requestOf({ ...headers, "webhook-signature": headers["webhook-signature"]!.replace("v1,", "v2,") }, body)
    ]) {
      assert.deepStrictEqual(receive(request, secret, now), rejected("WRONG_SIGNATURE"))
    }
  })

  it("is refused more than 300 s from its time, and without its headers", () => {
    const request = standardRequest(body)
    assert.deepStrictEqual(receive(request, secret, now + 300_000), accepted)
    for (const at of [now + 301_000, now - 301_000]) {
      assert.deepStrictEqual(receive(request, secret, at), rejected("NOT_RECENT"))
    }
    for (const name of Object.keys(request.headers)) {
      const without = requestOf({ ...request.headers, [name]: undefined }, body)
      assert.deepStrictEqual(receive(without, secret, now), rejected("MISSING_SIGNATURE"))
    }
  })

  it("is malformed if its body has no type", () => {
    for (const text of ["{}", "[]", '{"type":""}', "{"]) {
      assert.deepStrictEqual(receive(standardRequest(text), secret, now), rejected("MALFORMED"))
    }
  })
})

describe("An event of a sender of Standard Webhooks", () => {
  const meaning = (type: string, data: object) => meaningOf(type, JSON.stringify({ type, data }))
  const report = { _tag: "MessageReported", channel: "email", messageIds: ["m1"] } as const
  const data = { email_id: "m1", to: ["ann@example.com", "bob@example.com"] }

  it("reports a delivery, a bounce and a complaint", () => {
    assert.deepStrictEqual(meaning("email.delivered", data), { ...report, status: "DELIVERED", stopped: [] })
    assert.deepStrictEqual(meaning("email.bounced", data), { ...report, status: "BOUNCED", stopped: data.to })
    const to = "ann@example.com"
    assert.deepStrictEqual(meaning("email.complained", { ...data, to }), {
      ...report,
      status: "COMPLAINED",
      stopped: [to]
    })
  })

  it("of a bounce that is not permanent stops nothing", () => {
    const soft = meaning("email.bounced", { ...data, bounce: { type: "Transient" } })
    assert.deepStrictEqual(soft, { ...report, status: "FAILED", stopped: [] })
    const hard = meaning("email.bounced", { ...data, bounce: { type: "Permanent" } })
    assert.deepStrictEqual(hard, { ...report, status: "BOUNCED", stopped: data.to })
  })

  it("of another type, or without an address, means nothing", () => {
    assert.deepStrictEqual(meaning("email.opened", data), { _tag: "Nothing" })
    assert.deepStrictEqual(meaning("email.bounced", {}), { _tag: "Nothing" })
  })
})
