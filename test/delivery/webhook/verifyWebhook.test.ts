import { assert, describe, it } from "@effect/vitest"
import { Webhook } from "standardwebhooks"
import { signatureHeaders } from "../../../src/delivery/webhook/Signature.ts"
import { toleranceSeconds, verifyServiceSignature, verifyWebhook } from "../../../src/delivery/webhook/verifyWebhook.ts"

const whsec = (text: string) => `whsec_${Buffer.from(text).toString("base64")}`
const present = whsec("present-present-present-present-")
const former = whsec("former-former-former-former-1234")
const body = JSON.stringify({ id: "evt_1", type: "distribution.joined", name: "Zoë" })
const timestampSeconds = 1_790_000_000
const now = timestampSeconds * 1_000
const signed = { id: "evt_1", timestampSeconds, body }
const headers = signatureHeaders(signed, [present])

describe("The receiver's verification", () => {
  it("accepts Usher's signatures, with Base64 and with plain secrets, as text and as bytes", () => {
    for (const secret of [present, "a plain secret, at least"]) {
      const headers = signatureHeaders(signed, [secret])
      for (const raw of [body, Buffer.from(body)]) {
        assert.isTrue(verifyWebhook(headers, raw, secret, now))
        assert.isTrue(verifyServiceSignature(headers, raw, secret, now))
      }
    }
  })

  it("accepts signatures of the library of Standard Webhooks", () => {
    const signature = new Webhook(present).sign("msg_1", new Date(now), body)
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": `${timestampSeconds}`,
      "webhook-signature": signature
    }
    assert.isTrue(verifyWebhook(headers, body, present, now))
    assert.isTrue(verifyWebhook({ ...headers, "webhook-signature": `v2,AAAA v1, ${signature}` }, body, present, now))
  })

  it("accepts either secret during a rotation; `X-Service-Signature` is by the former one", () => {
    const headers = signatureHeaders(signed, [present, former])
    for (const secret of [present, former]) assert.isTrue(verifyWebhook(headers, body, secret, now))
    assert.isTrue(verifyServiceSignature(headers, body, former, now))
    assert.isFalse(verifyServiceSignature(headers, body, present, now))
  })

  it("refuses another body, id, time or secret", () => {
    for (const verify of [verifyWebhook, verifyServiceSignature]) {
      assert.isFalse(verify(headers, `${body} `, present, now))
      assert.isFalse(verify(headers, body, former, now))
      assert.isFalse(verify({}, body, present, now))
    }
    assert.isFalse(verifyWebhook({ ...headers, "webhook-id": "evt_2" }, body, present, now))
    assert.isFalse(verifyWebhook({ ...headers, "webhook-timestamp": `${timestampSeconds + 1}` }, body, present, now))
  })

  it("refuses a time more than five minutes away, in both directions, and a text that is no time", () => {
    for (const verify of [verifyWebhook, verifyServiceSignature]) {
      for (const seconds of [-toleranceSeconds, toleranceSeconds]) {
        assert.isTrue(verify(headers, body, present, now + seconds * 1_000))
        assert.isFalse(verify(headers, body, present, now + Math.sign(seconds) * (toleranceSeconds + 1) * 1_000))
      }
      for (const time of ["", "soon", "-1", "1e9", `${timestampSeconds}.5`, undefined]) {
        const changed = { ...headers, "webhook-timestamp": time, "x-service-timestamp": time }
        assert.isFalse(verify(changed, body, present, now))
      }
    }
  })

  it("refuses signatures that are cut off, of another version, or not text", () => {
    const signature = headers["webhook-signature"]!
    for (const given of ["", "v1,", signature.slice(0, -4), signature.replace("v1,", "v2,"), undefined, [signature]]) {
      assert.isFalse(verifyWebhook({ ...headers, "webhook-signature": given }, body, present, now))
    }
    const service = headers["x-service-signature"]!
    for (const given of ["", "sha256=", service.slice(0, -2), service.slice(7), undefined, [service]]) {
      assert.isFalse(verifyServiceSignature({ ...headers, "x-service-signature": given }, body, present, now))
    }
  })
})
