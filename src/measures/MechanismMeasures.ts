/** Counts of actors, by kind of mechanism. */
import { Counts } from "./Counts.ts"
import { by, counter, type Family, histogram, only } from "./Family.ts"
import { Histogram, requestSeconds, sizes } from "./Histogram.ts"

/** The counts of all actors of one kind in this process. */
export class KindMeasures {
  entries = 0
  grants = 0
  readonly denials = new Counts()
  readonly refusals = new Counts()
  readonly batchCommands = new Histogram(sizes)
  /** How long after its instant a timed transition was noticed. */
  readonly latenessSeconds = new Histogram(requestSeconds)
}

/** A mechanism that runs in this process. */
export interface Sample {
  readonly identity: {
    readonly id: string
    readonly kind: string
    readonly organizationId: string
    readonly mode: string
  }
  /** Commands in its mailbox. */
  readonly waiting: number
  /** Places by status. They may be those of the batch that is being written. */
  readonly counts: { readonly [status: string]: number }
  readonly entriesPerMinute: number
  readonly grantsPerMinute: number
}

export class MechanismMeasures {
  private readonly kinds = new Map<string, KindMeasures>()
  /** Rebuilds of actors after a failure. */
  restarts = 0
  /** Returns the running mechanisms. The engine replaces this when it starts. */
  samples: () => ReadonlyArray<Sample> = () => []

  of(kind: string): KindMeasures {
    let found = this.kinds.get(kind)
    if (found === undefined) this.kinds.set(kind, (found = new KindMeasures()))
    return found
  }

  families(): ReadonlyArray<Family> {
    const kinds = [...this.kinds]
    const each = <Name extends keyof KindMeasures>(name: Name) =>
      kinds.map(([kind, measures]) => ({ labels: { kind }, value: measures[name] }))
    const counts = (label: string, name: "denials" | "refusals") =>
      kinds.flatMap(([kind, measures]) => by(label, measures[name].entries(), { kind }))
    return [
      counter("usher_entries_total", "Recorded entries.", each("entries")),
      counter("usher_grants_total", "Recorded grants.", each("grants")),
      counter("usher_denials_total", "Recorded denials by reason.", counts("reason", "denials")),
      counter("usher_refusals_total", "Refused commands by code.", counts("code", "refusals")),
      histogram("usher_batch_commands", "Commands that an actor took as one batch.", each("batchCommands")),
      histogram(
        "usher_transition_lateness_seconds",
        "Delay between a timed transition's instant and its detection.",
        each("latenessSeconds")
      ),
      counter(
        "usher_mechanism_restarts_total",
        "Failures of actors, each followed by a rebuild or by parking.",
        only(this.restarts)
      )
    ]
  }
}
