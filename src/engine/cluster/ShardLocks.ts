/**
 * The locks of the shards that this node owns, as the cluster keeps them in the database: a lock is a row that its owner
 * refreshes, and that anybody may take once it has expired. Between the cluster and that storage stands this, which knows
 * two things that nobody else does: until when the locks can be believed in, and that a shard may go only after its
 * mechanisms have stopped.
 *
 * A node that was stopped for longer than a lock lives wakes up believing that it owns what has long been served elsewhere.
 * It is not believed: the lease begins before the refresh is sent, on clocks that go on while the process does not, and so
 * it ends here before the lock ends there.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { RunnerStorage, ShardId, type ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import type { SqlClient, SqlError } from "effect/sql"
import { laterOf, millisAtMost, type ClockReading, readClocks } from "../../store/coordination/LeaseClock.ts"

/** Shards in all: enough that a dozen nodes get about as many each, and few, as each is given away in a transaction of its own. */
export const shardsMax = 64

export const allShards = Array.from({ length: shardsMax }, (_, index) => ShardId.make("default", index + 1))

/** Stops what lives on the shards that are lost; they may go to another node when it returns. */
type Release = (isLost: (shard: number) => boolean) => Effect.Effect<void>

export class ShardLocks extends Context.Service<
  ShardLocks,
  {
    /** True while the locks that were got are this node's beyond doubt. */
    readonly areBelieved: () => boolean
    /** From here on called before a shard is given away, and when one was lost. */
    readonly onRelease: (release: Release) => void
  }
>()("usher/engine/cluster/ShardLocks") {}

/** The storage of the cluster's nodes and locks, watched over; `expirationMillis` is how long a lock lives unrefreshed. */
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
      let believedSince: ClockReading | undefined
      let stopped: Release = () => Effect.void

      const areBelieved = () =>
        believedSince !== undefined && millisAtMost(clock, believedSince) < options.expirationMillis

      /** Runs what proves that the locks stand, and believes in them from its beginning. */
      const proved = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          const begun = readClocks(clock)
          return Effect.tap(operation, () => Effect.sync(() => (believedSince = laterOf(believedSince, begun))))
        })

      /**
       * A database that is away for a moment is no reason to give anything away: while the locks are certain, they stand
       * as they are, and the refresh comes again.
       */
      const unlessCertain = <A, E>(asked: ReadonlyArray<A>, refresh: Effect.Effect<Array<A>, E>) => {
        const isCertain = () => asked.length > 0 && areBelieved()
        const asBefore = Effect.sync(() => [...asked])
        return refresh.pipe(
          Effect.timeoutOption(options.expirationMillis / 4),
          Effect.flatMap(Option.match({ onSome: Effect.succeed, onNone: () => (isCertain() ? asBefore : refresh) })),
          Effect.catchIf(isCertain, () => asBefore)
        )
      }

      const watched = RunnerStorage.RunnerStorage.of({
        ...storage,
        // The first locks are believed in at once; those that are got later are no older than the last refresh.
        acquire: (address, shards) =>
          Effect.suspend(() => {
            const acquired = storage.acquire(address, shards)
            return believedSince === undefined ? proved(acquired) : acquired
          }),
        refresh: (address, shards) => {
          const asked = [...shards]
          return Effect.tap(unlessCertain(asked, proved(storage.refresh(address, asked))), (found) => {
            const kept = new Set(found.map(({ id }) => id))
            const lost = new Set(asked.flatMap(({ id }) => (kept.has(id) ? [] : [id])))
            return lost.size > 0
              ? Effect.forkIn(
                  stopped((shard) => lost.has(shard)),
                  scope
                )
              : Effect.void
          })
        },
        release: (address, shard) =>
          Effect.andThen(
            Effect.suspend(() => stopped((lost) => lost === shard.id)),
            storage.release(address, shard)
          ),
        releaseAll: (address) =>
          Effect.andThen(
            Effect.suspend(() => stopped(() => true)),
            storage.releaseAll(address)
          )
      })

      return Context.make(RunnerStorage.RunnerStorage, watched).pipe(
        Context.add(ShardLocks, {
          areBelieved,
          onRelease: (release) => void (stopped = release)
        })
      )
    })
  )
