/**
 * The mail to an organization whose webhook fails. It contains no event and no secret, and only the host of the
 * address.
 */
import type { WebhookOwner } from "../../store/webhook/WebhookFailures.ts"
import type { Outgoing } from "../Message.ts"

/** The failure of a webhook. */
export interface Failure {
  readonly webhookId: string
  /** Permanently failed deliveries. */
  readonly failedDeliveries: number
  /** Why the webhook was disabled; absent if it was not. */
  readonly disabledReason?: "GONE" | "FAILING"
}

const reasons = {
  GONE: "the endpoint answered 410",
  FAILING: "no delivery succeeded for five days"
}

/** Returns the mail, for each of its addresses. */
export const failureMessages = (
  { tenant, to, host }: WebhookOwner,
  { webhookId, failedDeliveries, disabledReason }: Failure
): ReadonlyArray<Outgoing> => {
  const webhook = `the webhook ${webhookId} (${tenant.mode} mode) at ${host}`
  const count = failedDeliveries === 1 ? "A delivery" : `${failedDeliveries} deliveries`
  const sentences = [
    ...(failedDeliveries > 0 ? [`${count} to ${webhook} failed permanently. A replay sends failed events again.`] : []),
    ...(disabledReason === undefined
      ? []
      : [`Usher disabled ${webhook}, because ${reasons[disabledReason]}. Its events wait until it is enabled.`])
  ]
  return to.map((address) => ({
    tenant,
    channel: "email",
    purpose: "WEBHOOK_FAILURE",
    to: address,
    subject: `Webhook at ${host}: ${disabledReason === undefined ? "deliveries failed" : "disabled"}`,
    text: `${sentences.join("\n\n")}\n\nThere is at most one such mail an hour for a webhook.\n`
  }))
}
