/** Counts of deliveries to consumers and to webhooks. */
import { Counts } from "./Counts.ts"
import { by, counter, type Family } from "./Family.ts"

export class DeliveryMeasures {
  readonly email = new Counts(["delivered", "undeliverable", "failed", "refused"])
  readonly phone = new Counts(["delivered", "undeliverable", "failed", "refused"])
  readonly webhookAttempts = new Counts(["delivered", "retried", "failed"])

  families(): ReadonlyArray<Family> {
    return [
      counter("usher_messages_total", "Messages by outcome; refused: too many were waiting.", [
        ...by("outcome", this.email.entries(), { channel: "email" }),
        ...by("outcome", this.phone.entries(), { channel: "phone" })
      ]),
      counter(
        "usher_webhook_attempts_total",
        "Attempts to deliver an event to a webhook, by outcome.",
        by("outcome", this.webhookAttempts.entries())
      )
    ]
  }
}
