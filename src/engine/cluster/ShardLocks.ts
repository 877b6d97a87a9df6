/**
 * The locks of the shards that this node owns. The cluster keeps each lock as a row that its owner refreshes and any
 * node may take once it has expired. This module wraps that storage and adds two guarantees: it knows until when the
 * locks are valid, and it releases a shard only after its mechanisms have stopped.
 *
 * A process that was suspended for longer than a lock lives still holds memory of shards that other nodes now serve.
 * So the lease begins before the refresh is sent, on clocks that run while the process is suspended. It therefore
 * ends on this node before the lock ends in the database.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { RunnerStorage, ShardId, type ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import type { SqlClient, SqlError } from "effect/sql"
import { Measures } from "../../measures/Measures.ts"
import { laterOf, millisAtMost, type ClockReading, readClocks } from "../../store/coordination/LeaseClock.ts"

/**
 * Number of shards. It is high enough that a dozen nodes get about as many each. It is low because each shard is
 * given away in a transaction of its own.
 */
export const shardsMax = 64

export const allShards = Array.from({ length: shardsMax }, (_, index) => ShardId.make("default", index + 1))

/** Stops the mechanisms of the lost shards. When it returns, other nodes may take these shards. */
type Release = (isLost: (shard: number) => boolean) => Effect.Effect<void>

export class ShardLocks extends Context.Service<
  ShardLocks,
  {
    /** True while the acquired locks certainly belong to this node. */
    readonly areValid: () => boolean
    /** Registers a function that runs before a shard is given away and after one was lost. */
    readonly onRelease: (release: Release) => void
  }
>()("usher/engine/cluster/ShardLocks") {}

/**
 * Wraps the storage of the cluster's nodes and locks. `expirationMillis` is the lifetime of a lock without a refresh.
 */
export const layer = (options: {
  readonly expirationMillis: number
}): Layer.Layer<
  ShardLocks | RunnerStorage.RunnerStorage,
  SqlError.SqlError,
  SqlClient.SqlClient | ShardingConfig.ShardingConfig
> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const storage = yield* SqlRunnerStorage.make({ prefix: "cluster" })
      const scope = yield* Effect.scope
      const clock = yield* Clock.Clock
      const { cluster: measures } = yield* Measures
      let validSince: ClockReading | undefined
      let stop: Release = () => Effect.void

      const leftMillis = () =>
        validSince === undefined ? 0 : Math.max(0, options.expirationMillis - millisAtMost(clock, validSince))
      const areValid = () => leftMillis() > 0
      measures.leaseSeconds = () => leftMillis() / 1_000

      /** Runs an operation that proves the locks, and restarts the lease from the operation's beginning. */
      const renewing = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          const begun = readClocks(clock)
          return Effect.tap(operation, () => Effect.sync(() => (validSince = laterOf(validSince, begun))))
        })

      const keepWhileValid = makeKeepWhileValid(areValid, options.expirationMillis)
      const watched = RunnerStorage.RunnerStorage.of({
        ...storage,
        // The first acquisition starts the lease. Locks that are acquired later are covered by the last refresh.
        acquire: (address, shards) =>
          Effect.suspend(() => {
            const acquired = storage.acquire(address, shards)
            return validSince === undefined ? renewing(acquired) : acquired
          }),
        refresh: (address, shards) => {
          const requested = [...shards]
          return Effect.tap(keepWhileValid(requested, renewing(storage.refresh(address, requested))), (found) => {
            const kept = new Set(found.map(({ id }) => id))
            const lost = new Set(requested.flatMap(({ id }) => (kept.has(id) ? [] : [id])))
            return lost.size > 0
              ? Effect.forkIn(
                  stop((shard) => lost.has(shard)),
                  scope
                )
              : Effect.void
          })
        },
        release: (address, shard) =>
          Effect.andThen(
            Effect.suspend(() => stop((lost) => lost === shard.id)),
            storage.release(address, shard)
          ),
        releaseAll: (address) =>
          Effect.andThen(
            Effect.suspend(() => stop(() => true)),
            storage.releaseAll(address)
          )
      })

      return Context.make(RunnerStorage.RunnerStorage, watched).pipe(
        Context.add(ShardLocks, {
          areValid,
          onRelease: (release) => void (stop = release)
        })
      )
    })
  )

/**
 * Makes the function that keeps the locks through a short database outage. While they are valid, a failed refresh returns
 * them unchanged, and the next refresh tries again.
 */
const makeKeepWhileValid =
  (areValid: () => boolean, expirationMillis: number) =>
  <A, E>(requested: ReadonlyArray<A>, refresh: Effect.Effect<Array<A>, E>) => {
    const canKeep = () => requested.length > 0 && areValid()
    const unchanged = Effect.sync(() => [...requested])
    return refresh.pipe(
      Effect.timeoutOption(expirationMillis / 4),
      Effect.flatMap(Option.match({ onSome: Effect.succeed, onNone: () => (canKeep() ? unchanged : refresh) })),
      Effect.catchIf(canKeep, () => unchanged)
    )
  }
