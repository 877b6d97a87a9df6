/** The test event that an admin sends to a webhook. */
import { Clock, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { signatureHeaders } from "../../../delivery/webhook/Signature.ts"
import type { WebhookClient } from "../../../delivery/webhook/WebhookClient.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { EventType } from "../../../domain/webhook/Catalogue.ts"
import { exampleOf } from "../../../domain/webhook/PayloadSchema.ts"
import type { Target } from "../../../store/webhook/Webhooks.ts"

/** Makes the function that posts an event once: the example of the type, or one of type `webhook.test`. */
export const sendTestEvent = (
  client: WebhookClient["Service"],
  { organizationId, mode }: Tenant,
  type: EventType | undefined
) =>
  Effect.fnUntraced(function* ({ url, secret }: Target) {
    const now = yield* Clock.currentTimeMillis
    const id = `evt_test_${randomUUID()}`
    const example = type === undefined ? { type: "webhook.test", data: {} } : exampleOf(type)
    const body = JSON.stringify({ ...example, id, timestamp: toText(now), organization_id: organizationId, mode })
    const signatures = signatureHeaders({ id, timestampSeconds: Math.floor(now / 1_000), body }, [secret])
    return yield* client.post(url, { "content-type": "application/json", ...signatures }, body)
  })
