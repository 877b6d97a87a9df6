/**
 * The event `order.needs_attention`: money has arrived or gone, and a person has to decide. No program refunds. The
 * store writes it to the tenant's journal with the result of the attempt; operators see it in the log.
 */
import { Effect } from "effect"
import type { Outcome } from "../../domain/receiver/Receiver.ts"
import { annotated } from "../../measures/StateChange.ts"
import type { Attention } from "../../store/receiver/ReceivedEvents.ts"
import type { TakenEvent } from "../../store/receiver/TakenEvents.ts"

/** Logs that a person has to look at an order, or at a payment without one. */
export const logAttention = (
  { receiverId, eventId, tenant }: TakenEvent,
  outcome: Outcome,
  { orderId }: Attention
): Effect.Effect<void> =>
  Effect.logWarning("An order needs attention").pipe(
    annotated("order.needs_attention", {
      organization: tenant.organizationId,
      mode: tenant.mode,
      receiver: receiverId,
      receivedEvent: eventId,
      reason: outcome,
      ...(orderId !== undefined && { order: orderId })
    })
  )
