/**
 * The counts of this process about itself. The numbers are fields of plain objects, and plain code adds to them: a
 * request pays for a few additions. They are read only at a scrape (`http/operations`).
 */
import { Context, Layer } from "effect"
import { DatabaseMeasures } from "./DatabaseMeasures.ts"
import { type Family, by, counter, gauge, only } from "./Family.ts"
import { HttpMeasures } from "./HttpMeasures.ts"
import { JournalMeasures } from "./JournalMeasures.ts"
import { MechanismMeasures } from "./MechanismMeasures.ts"
import { Counts } from "./Counts.ts"

class AllMeasures {
  readonly http = new HttpMeasures()
  readonly mechanisms = new MechanismMeasures()
  readonly journal = new JournalMeasures()
  readonly database = new DatabaseMeasures()
  readonly cluster = new ClusterMeasures()
  readonly delivery = new DeliveryMeasures()
  readonly gate = new GateMeasures()

  families(): ReadonlyArray<Family> {
    const { http, mechanisms, journal, database, cluster, delivery, gate } = this
    return [http, mechanisms, journal, database, cluster, delivery, gate].flatMap((group) => group.families())
  }
}

/** The measures. Without the layer, code counts into measures that are never read. */
export const Measures = Context.Reference<AllMeasures>("usher/measures/Measures", {
  defaultValue: () => new AllMeasures()
})

/** Provides separate measures to the layer's dependents. */
export const layer = Layer.sync(Measures, () => new AllMeasures())

export class ClusterMeasures {
  readonly remoteQuestions = new Counts(["answered", "moved", "failed"])
  /** Shards that this node owns. */
  shards = 0
  /** Shards that this node gave away or lost. */
  handovers = 0
  /** For how long this node may still trust its locks without a refresh. The locks replace this when they start. */
  leaseSeconds: () => number = () => 0

  families(): ReadonlyArray<Family> {
    return [
      counter(
        "usher_cluster_remote_questions_total",
        "Questions to other nodes; moved: that node did not own the mechanism.",
        by("outcome", this.remoteQuestions.entries())
      ),
      gauge("usher_cluster_shards", "Shards that this node owns.", only(this.shards)),
      counter("usher_cluster_handovers_total", "Shards that this node gave away or lost.", only(this.handovers)),
      gauge("usher_cluster_lease_seconds", "Time left on the locks of the shards.", only(this.leaseSeconds()))
    ]
  }
}

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

export class GateMeasures {
  /** Checks of a provider's tokens. */
  readonly tokens = new Counts(["good", "bad", "busy", "out"])
  /** Clients that got a proof of work in place of a provider's challenge. */
  downgrades = 0

  families(): ReadonlyArray<Family> {
    return [
      counter(
        "usher_challenge_tokens_total",
        "Tokens of challenge providers by finding; busy: too many at once; out: the provider did not answer.",
        by("finding", this.tokens.entries())
      ),
      counter(
        "usher_challenge_downgrades_total",
        "Proofs of work asked for because a challenge provider did not answer.",
        only(this.downgrades)
      )
    ]
  }
}
