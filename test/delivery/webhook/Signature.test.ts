import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { Webhook } from "standardwebhooks"
import { Webhook as SvixWebhook } from "svix"
import { signatureHeaders } from "../../../src/delivery/webhook/Signature.ts"

const whsec = (text: string) => `whsec_${Buffer.from(text).toString("base64")}`
const present = whsec("present-present-present-present-")
const former = whsec("former-former-former-former-1234")
const body = JSON.stringify({ id: "evt_1", type: "distribution.joined" })
const signed = { id: "evt_1", timestampSeconds: Math.floor(Date.now() / 1_000), body }

describe("The signature of a webhook", () => {
  it("is verified by the library of Standard Webhooks", () => {
    const headers = signatureHeaders(signed, [present])
    assert.deepStrictEqual(new Webhook(present).verify(body, headers), JSON.parse(body))
    assert.throws(() => new Webhook(former).verify(body, headers))
    assert.throws(() => new Webhook(present).verify(`${body} `, headers))
    assert.throws(() => new Webhook(present).verify(body, { ...headers, "webhook-id": "evt_2" }))
  })

  it("is verified by the library of Svix", () => {
    const headers = signatureHeaders(signed, [present])
    assert.deepStrictEqual(new SvixWebhook(present).verify(body, headers), JSON.parse(body))
    assert.throws(() => new SvixWebhook(former).verify(body, headers))
    assert.throws(() => new SvixWebhook(present).verify(`${body} `, headers))
  })

  it("is verified by either secret during a rotation", () => {
    const headers = signatureHeaders(signed, [present, former])
    for (const secret of [present, former]) {
      assert.deepStrictEqual(new Webhook(secret).verify(body, headers), JSON.parse(body))
    }
  })

  it("is the hexadecimal digest of the body, by the former secret during a rotation", () => {
    const digest = (key: Buffer | string) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`
    const plain = signatureHeaders(signed, ["a plain secret, at least"])
    assert.strictEqual(plain["x-service-signature"], digest("a plain secret, at least"))
    assert.strictEqual(plain["x-service-timestamp"], `${signed.timestampSeconds}`)
    const rotating = signatureHeaders(signed, [present, former])
    assert.strictEqual(rotating["x-service-signature"], digest(Buffer.from("former-former-former-former-1234")))
  })
})
