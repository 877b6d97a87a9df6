/** Tells organizations by mail that deliveries to a webhook failed permanently, or that the webhook was disabled. */
import { Clock, Effect } from "effect"
import { Delivery } from "../../delivery/Delivery.ts"
import { failureMessages } from "../../delivery/webhook/FailureMessage.ts"
import type { Round } from "../../store/webhook/Round.ts"
import { WebhookDeliveries } from "../../store/webhook/WebhookDeliveries.ts"

/** Creates the function that tells what a round means for the organization. A mail that is lost is not sent again. */
export const make = Effect.gen(function* () {
  const deliveries = yield* WebhookDeliveries
  const delivery = yield* Delivery

  return Effect.fnUntraced(function* ({ webhookId, results, endpoint }: Round) {
    const failedDeliveries = results.filter(({ status }) => status === "FAILED").length
    const disabledReason = endpoint?.disabledReason ?? undefined
    if (failedDeliveries === 0 && disabledReason === undefined) return
    if (!delivery.canSend("email")) return
    const owner = yield* deliveries.takeMail(webhookId, yield* Clock.currentTimeMillis)
    if (owner === undefined) return
    const failure = { webhookId, failedDeliveries, ...(disabledReason && { disabledReason }) }
    yield* Effect.forEach(failureMessages(owner, failure), delivery.send, { discard: true })
  })
})
