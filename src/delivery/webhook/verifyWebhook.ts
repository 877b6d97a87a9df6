/**
 * Verifies webhook requests, for the servers that receive them. The file needs only Node's crypto, so that a receiver can
 * copy it. The libraries of Standard Webhooks do the same. `body` is the request's body as it arrived, not parsed.
 */
import { createHmac, timingSafeEqual } from "node:crypto"

type Headers = { readonly [name: string]: string | ReadonlyArray<string> | undefined }
type Bytes = string | Uint8Array

/** How far the time of a request may be from the receiver's clock. */
export const toleranceSeconds = 300

/** Returns whether `webhook-signature` is by this secret, which signs id, time and body. */
export function verifyWebhook(headers: Headers, body: Bytes, secret: string, nowMillis: number): boolean {
  const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signatures } = headers
  if (typeof id !== "string" || typeof signatures !== "string" || !isRecent(time, nowMillis)) return false
  const key = keyOf(secret)
  if (key.length === 0) return false
  const expected = hmac(key, `${id}.${time}.`, body)
  return signatures.split(" ").some((one) => one.startsWith("v1,") && isSame(expected, one.slice(3), "base64"))
}

/** Returns whether `X-Service-Signature` is by this secret. It does not sign the time: remember the ids you have seen. */
export function verifyServiceSignature(headers: Headers, body: Bytes, secret: string, nowMillis: number): boolean {
  const { "x-service-signature": signature, "x-service-timestamp": time } = headers
  if (typeof signature !== "string" || !signature.startsWith("sha256=") || !isRecent(time, nowMillis)) return false
  const key = keyOf(secret)
  return key.length > 0 && isSame(hmac(key, body), signature.slice("sha256=".length), "hex")
}

const isRecent = (time: unknown, nowMillis: number): boolean =>
  typeof time === "string" && /^\d{1,12}$/.test(time) && Math.abs(nowMillis / 1000 - Number(time)) <= toleranceSeconds

const isSame = (expected: Buffer, text: string, encoding: "base64" | "hex"): boolean => {
  const given = Buffer.from(text, encoding)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Empty if the secret was not set or cut off. Anybody can sign with an empty key. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith("whsec_") ? Buffer.from(secret.slice("whsec_".length), "base64") : Buffer.from(secret)

const hmac = (key: Buffer, ...parts: ReadonlyArray<Bytes>): Buffer =>
  parts.reduce((digest, part) => digest.update(part), createHmac("sha256", key)).digest()
