/** `usher webhooks trigger` and `usher webhooks replay`: one request to a webhook, and the events that it gets again. */
import { Console, Effect } from "effect"
import { isDelivered, WebhookClient } from "../../delivery/webhook/WebhookClient.ts"
import type { EventType } from "../../domain/webhook/Catalogue.ts"
import { recordTest, sendTestEvent } from "../../http/admin/webhook/TestEvent.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { WebhookDeliveries } from "../../store/webhook/WebhookDeliveries.ts"
import { type ReplaySelection, Webhooks } from "../../store/webhook/Webhooks.ts"
import { webhookOf } from "./Targets.ts"

/** Posts the example of the type to the webhook, and prints the answer. Fails unless the endpoint took it. */
export const trigger = Effect.fnUntraced(function* (type: EventType, webhookId: string | undefined, json: boolean) {
  const { id, tenant } = yield* webhookOf(webhookId)
  const target = yield* (yield* Webhooks).target(tenant, id)
  const tested = yield* sendTestEvent(yield* WebhookClient, tenant, type)(target)
  const attempt = yield* recordTest(yield* WebhookDeliveries, id)(tested)
  const { statusCode, durationMillis, body } = attempt
  yield* Console.log(
    json
      ? JSON.stringify({ webhookId: id, type, statusCode, durationMillis, answer: body })
      : `${statusCode ?? "---"}  ${type}  ${target.url}  ${durationMillis} ms${statusCode === null ? `  ${body}` : ""}`
  )
  if (!isDelivered(attempt)) {
    return yield* new StartRefused({ message: `the webhook ${id} did not take the event.` })
  }
})

/** Lets the webhook get events again. A server or `usher webhooks deliver` sends them. */
export const replay = Effect.fnUntraced(function* (webhookId: string, from: ReplaySelection, json: boolean) {
  const { id, tenant } = yield* webhookOf(webhookId)
  const webhooks = yield* Webhooks
  if (from === "failed") {
    const deliveries = yield* webhooks.replayFailed(tenant, id)
    return yield* Console.log(
      json ? JSON.stringify({ webhookId: id, deliveries }) : `${deliveries} failed deliveries are sent again.`
    )
  }
  const { status } = yield* webhooks.replay(tenant, id, from)
  const note = status === "DISABLED" ? " It is disabled: they wait until it is enabled." : ""
  yield* Console.log(
    json ? JSON.stringify({ webhookId: id, status }) : `The webhook ${id} gets its events again from there on.${note}`
  )
})
