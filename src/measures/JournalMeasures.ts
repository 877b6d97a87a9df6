/** Counts of the journal's writer. */
import { by, counter, type Family, gauge, histogram, only } from "./Family.ts"
import { Counts } from "./Counts.ts"
import { Histogram, sizes, statementSeconds } from "./Histogram.ts"

/** The commits that wait to be written. */
export interface Waiting {
  readonly events: number
  /** How long the first of them has waited. */
  readonly seconds: number
}

export class JournalMeasures {
  readonly statements = new Counts(["written", "failed"])
  readonly statementSeconds = new Histogram(statementSeconds)
  readonly statementEvents = new Histogram(sizes)
  /** Commits of a former owner, which the database refused. */
  conflicts = 0
  /** Commits that were not written, or whose outcome is unknown. */
  unavailable = 0
  /** The writer replaces this when it starts. */
  waiting: () => Waiting = () => ({ events: 0, seconds: 0 })
  /** The writer of places replaces this when it starts. */
  waitingPlaces = (): { readonly rows: number; readonly seconds: number } => ({ rows: 0, seconds: 0 })

  families(): ReadonlyArray<Family> {
    const waiting = this.waiting()
    const places = this.waitingPlaces()
    return [
      counter("usher_journal_statements_total", "Statements by outcome.", by("outcome", this.statements.entries())),
      histogram("usher_journal_statement_duration_seconds", "Time of a statement.", only(this.statementSeconds)),
      histogram("usher_journal_statement_events", "Events that a statement wrote.", only(this.statementEvents)),
      gauge("usher_journal_waiting_events", "Events that wait for a statement.", only(waiting.events)),
      gauge("usher_journal_waiting_seconds", "Waiting time of the first waiting commit.", only(waiting.seconds)),
      gauge("usher_places_waiting_rows", "Places that follow the journal and are not written.", only(places.rows)),
      gauge("usher_places_waiting_seconds", "Waiting time of the first of them.", only(places.seconds)),
      counter("usher_journal_conflicts_total", "Commits of a former owner, refused.", only(this.conflicts)),
      counter("usher_journal_unavailable_total", "Commits without a known outcome.", only(this.unavailable))
    ]
  }
}
