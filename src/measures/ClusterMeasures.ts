/** Counts of one node of several. Outside a cluster every number stays 0. */
import { Counts } from "./Counts.ts"
import { by, counter, type Family, gauge, only } from "./Family.ts"

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
