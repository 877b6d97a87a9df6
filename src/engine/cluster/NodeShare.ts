import type { Millis } from "../../domain/values/Time.ts"

/** A process and the number of mechanisms it owns. */
export interface NodeShare {
  readonly name: string
  /** Null where the process has the database to itself. */
  readonly shards: number | null
  readonly mechanisms: number
  readonly startedAt: Millis
  readonly heardAt: Millis
}
