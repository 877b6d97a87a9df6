/**
 * Which mechanisms may run in this process. A process with its own database owns all of them. In a cluster, each
 * process owns those that {@link ../cluster/Cluster.ts} assigns to it, while its lease is valid.
 */
import { Effect, type Stream } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { Head } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { MechanismViews } from "../actor/Actor.ts"
import type { Change } from "../actor/Change.ts"

/** Access to mechanisms that run in another process. */
export interface Elsewhere {
  /** Returns the views of several consumers. */
  viewMany(mechanismId: string, consumerIds: ReadonlyArray<string>): Effect.Effect<MechanismViews, unknown>
  /** Streams the changes of a mechanism. After the first element, the stream misses no change. */
  follow(mechanismId: string): Stream.Stream<Change, unknown>
}

export interface ShardOwnership {
  /** True if the mechanism may run here, and its state in this process's memory is valid. */
  readonly owns: (mechanismId: string) => boolean
  /**
   * Returns the instant at which the ownership of this process ended, while no process can own the mechanism because
   * the database is away. Status reads are then answered from the memory of its last owner.
   */
  readonly endedAt?: () => Millis | undefined
  /** Makes this process the only writer of these mechanisms. Returns their heads after the takeover. */
  readonly takeOver: (heads: ReadonlyArray<Head>) => Effect.Effect<ReadonlyArray<Head>, Unavailable>
  /** Absent if no mechanism runs in another process. */
  readonly elsewhere?: Elsewhere
}

/** The ownership of a process with its own database. Each append is still fenced. */
export const ownsAll: ShardOwnership = { owns: () => true, takeOver: Effect.succeed }
