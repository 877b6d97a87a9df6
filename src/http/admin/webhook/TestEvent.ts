/** The test event that an admin sends to a webhook. */
import { Clock, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { signatureHeaders } from "../../../delivery/webhook/Signature.ts"
import type { WebhookClient } from "../../../delivery/webhook/WebhookClient.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Target } from "../../../store/webhook/Webhooks.ts"

/** Makes the function that posts an event of type `webhook.test` once. It returns the attempt. */
export const sendTestEvent = (client: WebhookClient["Service"], { organizationId, mode }: Tenant) =>
  Effect.fnUntraced(function* ({ url, secret }: Target) {
    const now = yield* Clock.currentTimeMillis
    const id = `evt_test_${randomUUID()}`
    const event = { id, type: "webhook.test", timestamp: toText(now), organization_id: organizationId, mode, data: {} }
    const body = JSON.stringify(event)
    const signatures = signatureHeaders({ id, timestampSeconds: Math.floor(now / 1_000), body }, [secret])
    return yield* client.post(url, { "content-type": "application/json", ...signatures }, body)
  })
