/** Counts the connections that are in use, and how long callers wait for one. */
import { Clock, Effect, Exit, type Scope } from "effect"
import type { ConnectionMeasures } from "../../measures/DatabaseMeasures.ts"

/** Returns a lease that counts itself until its scope ends. */
export const counted = <A, E>(lease: Effect.Effect<A, E, Scope.Scope>, measures: ConnectionMeasures) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const startedAt = clock.monotonicTimeNanosUnsafe()
    measures.waiting++
    return Effect.onExit(lease, (exit) => {
      measures.waiting--
      measures.waitSeconds.add(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
      if (Exit.isFailure(exit)) return Effect.void
      measures.inUse++
      return Effect.addFinalizer(() => Effect.sync(() => void measures.inUse--))
    })
  })
