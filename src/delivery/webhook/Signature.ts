/**
 * The signatures of webhook requests: `X-Service-Signature` and those of the Standard Webhooks specification, so that its
 * libraries verify our requests.
 */
import { createHmac } from "node:crypto"
import { keyOf } from "../../domain/values/SigningSecret.ts"

/** A request to sign. */
interface WebhookRequest {
  readonly id: string
  readonly timestampSeconds: number
  readonly body: string
}

/**
 * Returns the headers that prove where a request comes from.
 *
 * @param secrets the present secret, and after it the former one while both are valid
 */
export const signatureHeaders = (
  { id, timestampSeconds, body }: WebhookRequest,
  secrets: readonly [string, ...ReadonlyArray<string>]
): { readonly [name: string]: string } => {
  const content = `${id}.${timestampSeconds}.${body}`
  const signatures = secrets.map(
    (secret) => `v1,${createHmac("sha256", keyOf(secret)).update(content).digest("base64")}`
  )
  // A receiver of `X-Service-Signature` knows one secret: the former one, until the overlap has ended.
  const oldest = secrets.at(-1)!
  return {
    "x-service-signature": `sha256=${createHmac("sha256", keyOf(oldest)).update(body).digest("hex")}`,
    "x-service-timestamp": `${timestampSeconds}`,
    "webhook-id": id,
    "webhook-timestamp": `${timestampSeconds}`,
    "webhook-signature": signatures.join(" ")
  }
}
