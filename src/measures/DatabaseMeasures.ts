/** Facts about the database: whether it takes writes, its clock, and the connections to it. */
import { type Family, gauge, histogram, only } from "./Family.ts"
import { Histogram, statementSeconds } from "./Histogram.ts"

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
  /** True while the last heartbeat was written. The heartbeat replaces this when it starts. */
  isWritable: () => boolean = () => false
  /** How far the database's clock is ahead of this machine's. */
  clockOffsetSeconds = 0

  families(): ReadonlyArray<Family> {
    const { max, inUse, waiting, waitSeconds } = this.connections
    const uses = [
      { labels: { use: "requests" }, value: inUse },
      { labels: { use: "waiting" }, value: waiting }
    ]
    return [
      gauge("usher_database_writable", "1 while the last heartbeat was written.", only(this.isWritable() ? 1 : 0)),
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
