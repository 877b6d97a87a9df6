/** Counts of the gate for bots. */
import { Counts } from "./Counts.ts"
import { by, counter, type Family, only } from "./Family.ts"

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
