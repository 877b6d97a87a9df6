/**
 * Which mechanisms may live in this process. A process that has its database to itself holds them all; of several, each
 * holds those that the cluster has given it ({@link ./Cluster.ts}), for as long as it may believe so.
 */
import { Effect, type Stream } from "effect"
import type { Head } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { MechanismViews } from "../actor/Actor.ts"
import type { Change } from "../actor/Change.ts"

/** Mechanisms that live in another process. */
export interface Elsewhere {
  /** How consumers stand in one. */
  viewMany(mechanismId: string, consumerIds: ReadonlyArray<string>): Effect.Effect<MechanismViews, unknown>
  /** What changes in one, as it changes. The first element comes when nothing can be missed any more. */
  follow(mechanismId: string): Stream.Stream<Change, unknown>
}

export interface ShardOwnership {
  /** True if the mechanism may live here, and what is remembered of it here may be believed. */
  readonly owns: (mechanismId: string) => boolean
  /** Makes this process the only one that can write for these mechanisms; their heads as they then stand. */
  readonly takeOver: (heads: ReadonlyArray<Head>) => Effect.Effect<ReadonlyArray<Head>, Unavailable>
  /** Absent where nothing lives elsewhere. */
  readonly elsewhere?: Elsewhere
}

/** That of a process which has its database to itself. The fence of each append holds all the same. */
export const ownsAll: ShardOwnership = { owns: () => true, takeOver: Effect.succeed }
