/** Requests as the providers send them, signed with their own libraries where these can sign. */
import { generateKeyPairSync, sign } from "node:crypto"
import { Stripe } from "stripe"
import twilio from "twilio"
import { Webhook } from "svix"
import type { InboundRequest } from "../../../src/domain/receiver/Adapter.ts"

/** The instant of the vectors, in milliseconds since the epoch. */
export const now = Date.UTC(2026, 10, 22, 20)
export const seconds = now / 1_000

const bytes = (body: string) => Buffer.from(body, "utf8")
const url = "https://drop.example.com/hooks/0f9b"

/** A request with these headers. */
export const requestOf = (headers: InboundRequest["headers"], body: string, at = url): InboundRequest => ({
  headers,
  url: at,
  rawBody: bytes(body)
})

export const stripeSecret = "whsec_test_secret_of_stripe"
export const stripeEvent = (type: string, object: object, id = "evt_1") =>
  JSON.stringify({ id, object: "event", type, created: seconds, data: { object } })

/** A request of Stripe, signed by Stripe's library. */
export const stripeRequest = (body: string, { secret = stripeSecret, at = seconds } = {}) =>
  requestOf(
    { "stripe-signature": Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: at }) },
    body
  )

export const twilioToken = "12345678901234567890123456789012"

/** A request of Twilio, signed by Twilio's library. */
export const twilioRequest = (
  fields: { readonly [name: string]: string | Array<string> },
  { token = twilioToken, signedUrl = url, calledUrl = url } = {}
) => {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one)
  const signature = twilio.getExpectedTwilioSignature(token, signedUrl, fields)
  return requestOf({ "x-twilio-signature": signature }, form.toString(), calledUrl)
}

/** A key pair of SendGrid. The public key is what its console shows, and the receiver's secret. */
export const sendGridKeys = (() => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
  return { privateKey, publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64") }
})()

/** A request of SendGrid. Its library only verifies, so Node signs. */
export const sendGridRequest = (body: string, { key = sendGridKeys.privateKey, at = `${seconds}` } = {}) =>
  requestOf(
    {
      "x-twilio-email-event-webhook-signature": sign("sha256", bytes(at + body), key).toString("base64"),
      "x-twilio-email-event-webhook-timestamp": at
    },
    body
  )

export const standardSecret = `whsec_${Buffer.from("a secret of at least 24 bytes").toString("base64")}`

/** A request of a sender of Standard Webhooks, signed by the library of Svix. */
export const standardRequest = (
  body: string,
  { secret = standardSecret, at = seconds, id = "msg_1", prefix = "webhook" } = {}
) =>
  requestOf(
    {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: `${at}`,
      [`${prefix}-signature`]: new Webhook(secret).sign(id, new Date(at * 1_000), body)
    },
    body
  )
