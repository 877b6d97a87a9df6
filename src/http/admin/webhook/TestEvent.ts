/** The test event that an admin sends to a webhook. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { signatureHeaders } from "../../../delivery/webhook/Signature.ts"
import { type Attempt, isDelivered, type WebhookClient } from "../../../delivery/webhook/WebhookClient.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { EventType } from "../../../domain/webhook/Catalogue.ts"
import { exampleOf } from "../../../domain/webhook/PayloadSchema.ts"
import { testEventPrefix } from "../../../domain/webhook/Webhook.ts"
import type { WebhookDeliveries } from "../../../store/webhook/WebhookDeliveries.ts"
import type { Target } from "../../../store/webhook/Webhooks.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** A test event that was sent, and how it was answered. */
interface Tested {
  readonly event: { readonly id: string; readonly type: string; readonly body: string }
  readonly attempt: Attempt
}

/** Makes the function that posts an event once: the example of the type, or one of type `webhook.test`. */
export const sendTestEvent = (
  client: WebhookClient["Service"],
  { organizationId, mode }: Tenant,
  chosen: EventType | undefined
) =>
  Effect.fnUntraced(function* ({ url, secret }: Pick<Target, "url" | "secret">) {
    const now = yield* Time.now
    const id = `${testEventPrefix}${randomUUID()}`
    const type = chosen ?? "webhook.test"
    const example = chosen === undefined ? { type, data: {} } : exampleOf(chosen)
    const body = JSON.stringify({ ...example, id, timestamp: toText(now), organization_id: organizationId, mode })
    const signatures = signatureHeaders({ id, timestampSeconds: Math.floor(now / 1_000), body }, [secret])
    const attempt = yield* client.post(url, { "content-type": "application/json", ...signatures }, body)
    const tested: Tested = { event: { id, type, body }, attempt }
    return tested
  })

/** Makes the function that adds a test event to the deliveries of its webhook. It returns the attempt. */
export const recordTest =
  (deliveries: WebhookDeliveries["Service"], webhookId: string) =>
  ({ event, attempt }: Tested) => {
    const { retryAfterMillis: _, ...logged } = attempt
    return Effect.as(deliveries.recordTest(webhookId, event, logged, isDelivered(attempt)), attempt)
  }
