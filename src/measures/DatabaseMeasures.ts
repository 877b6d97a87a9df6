/** Facts about the database: whether it takes writes, its clock, and the connections to it. */
import { by, counter, type Family, gauge, histogram, only } from "./Family.ts"
import { Histogram, statementSeconds } from "./Histogram.ts"
import { StatementOutcomes } from "./StatementOutcomes.ts"

/** The pool of connections for everything but the journal's writer and the heartbeat. */
export class ConnectionMeasures {
  max = 0
  inUse = 0
  /** Callers that wait for a connection. */
  waiting = 0
  readonly waitSeconds = new Histogram(statementSeconds)
}

export class DatabaseMeasures {
  readonly connections = new ConnectionMeasures()
  readonly statements = new StatementOutcomes()
  /** True while the last heartbeat was written, and the writes of callers do not all fail. The heartbeat replaces this when it starts. */
  isWritable: () => boolean = () => false
  /** How far the database's clock is ahead of this machine's. The process works by the database's. */
  clockOffsetSeconds = 0

  families(): ReadonlyArray<Family> {
    const { max, inUse, waiting, waitSeconds } = this.connections
    const uses = [
      { labels: { use: "requests" }, value: inUse },
      { labels: { use: "waiting" }, value: waiting }
    ]
    return [
      gauge(
        "usher_database_writable",
        "1 while the last heartbeat was written, and the last writes have not all failed.",
        only(this.isWritable() ? 1 : 0)
      ),
      counter(
        "usher_database_statement_failures_total",
        "Statements that failed, and not for their content.",
        by("cause", this.statements.failures.entries())
      ),
      gauge(
        "usher_database_clock_offset_seconds",
        "The database's clock minus this one.",
        only(this.clockOffsetSeconds)
      ),
      gauge("usher_database_connections", "Connections in use, and callers that wait for one.", uses),
      gauge("usher_database_connections_max", "Connections that may be in use at once.", only(max)),
      histogram("usher_database_connection_wait_seconds", "Time until a connection was free.", only(waitSeconds))
    ]
  }
}
