/**
 * The locks of the shards that this node owns. The cluster keeps each lock as a row that its owner refreshes and any
 * node may take once it has expired. This module wraps that storage and adds two guarantees: it knows until when the
 * locks are valid, and it releases a shard only after its mechanisms have stopped.
 *
 * A process that was suspended for longer than a lock lives still holds memory of shards that other nodes now serve.
 * So the lease begins before the refresh is sent, on clocks that run while the process is suspended. It therefore
 * ends on this node before the lock ends in the database.
 *
 * While the database is away no node can renew or take a lock. The nodes then keep their list of each other and their
 * shards, so that status reads still find the memory of the last owner. Nothing else is answered from it.
 */
import { Clock, Context, Effect, Latch, Layer, Option } from "effect"
import { ClusterError, type Runner, RunnerStorage, ShardId, ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import type { SqlClient, SqlError } from "effect/sql"
import { Measures } from "../../measures/Measures.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { rememberedMillis } from "../../store/coordination/Availability.ts"
import { laterOf, millisAtMost, type ClockReading, readClocks } from "../../store/coordination/LeaseClock.ts"
import * as Time from "../../store/coordination/Time.ts"

/**
 * Number of shards. It is high enough that a dozen nodes get about as many each. It is low because each shard is
 * given away in a transaction of its own.
 */
export const shardsMax = 64

/** The group of all shards. A node that is not in it owns none. */
export const shardGroup = "default"

export const allShards = Array.from({ length: shardsMax }, (_, index) => ShardId.make(shardGroup, index + 1))

/** Stops the mechanisms of the lost shards. When it returns, other nodes may take these shards. */
type Release = (isLost: (shard: number) => boolean) => Effect.Effect<void>

export class ShardLocks extends Context.Service<
  ShardLocks,
  {
    /** True while the acquired locks certainly belong to this node. */
    readonly areValid: () => boolean
    /**
     * Returns the instant at which the locks of this node ended, while the database cannot renew them, for up to a
     * minute. Undefined while they are valid, and after a suspension until the database has been asked.
     */
    readonly endedAt: () => Millis | undefined
    /** True while there is a live node that may own shards. A list of nodes that could not be read changes nothing. */
    readonly haveOwner: () => boolean
    /** Returns when there is no such node. */
    readonly ownerless: Effect.Effect<void>
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
      const clock = yield* Time.serverClock
      const lease = new Lease(clock, options.expirationMillis)
      const { cluster: measures } = yield* Measures
      measures.leaseSeconds = () => lease.leftMillis() / 1_000
      let stop: Release = () => Effect.void
      const { renewing, refresh, getRunners } = withLease(storage, lease)
      const owners = yield* watchOwners(storage)

      const watched = RunnerStorage.RunnerStorage.of({
        ...storage,
        getRunners: Effect.tap(getRunners, owners.note),
        // The first acquisition starts the lease. Locks that are acquired later are covered by the last refresh.
        acquire: (address, shards) =>
          Effect.suspend(() => {
            const acquired = storage.acquire(address, shards)
            return lease.hasBegun ? acquired : renewing(acquired)
          }),
        refresh: (address, shards) => {
          const requested = [...shards]
          return Effect.tap(refresh(address, requested), (found) => {
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
          areValid: () => lease.leftMillis() > 0,
          endedAt: () => lease.endedAt(),
          haveOwner: owners.areThere,
          ownerless: owners.gone,
          onRelease: (release) => void (stop = release)
        })
      )
    })
  )

/** Watches whether there are nodes that may own shards. */
const watchOwners = Effect.fnUntraced(function* (
  storage: Pick<RunnerStorage.RunnerStorage["Service"], "setRunnerHealth">
) {
  const { runnerAddress, assignedShardGroups } = yield* ShardingConfig.ShardingConfig
  const own = assignedShardGroups.includes(shardGroup) ? Option.getOrUndefined(runnerAddress) : undefined
  const gone = Latch.makeUnsafe(true)
  let areThere = false
  return {
    areThere: () => areThere,
    gone: gone.await,
    /**
     * Notes the list of nodes. The cluster lets a node that was marked as unhealthy return once no node is healthy, for a
     * node that owns shards must check the others. Fronts are healthy and check nobody, so they do not count here.
     */
    note: (runners: ReadonlyArray<readonly [Runner.Runner, boolean]>) => {
      areThere = runners.some(([{ groups }, isHealthy]) => isHealthy && groups.includes(shardGroup))
      if (areThere) gone.closeUnsafe()
      else gone.openUnsafe()
      return areThere || own === undefined ? Effect.void : storage.setRunnerHealth(own, true)
    }
  }
})

/** Makes the operations of the storage that keep the lease, or follow it. */
const withLease = (storage: Pick<RunnerStorage.RunnerStorage["Service"], "refresh" | "getRunners">, lease: Lease) => {
  let runners: Effect.Success<typeof storage.getRunners> = []
  // The cluster tries three times in the life of a lock, and gives each attempt as long.
  const attemptMillis = lease.expirationMillis * 0.3

  /** Runs an operation that proves the locks, and restarts the lease from the operation's beginning. */
  const renewing = <A, E>(operation: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const begun = readClocks(lease.clock)
      return Effect.tap(operation, () => Effect.sync(() => lease.renew(begun)))
    })

  /** Refreshes the locks. Where the database cannot, the locks stay as they are for as long as they may be shown. */
  const refresh: typeof storage.refresh = (address, shards) =>
    Effect.suspend(() => {
      const requested = [...shards]
      const begun = readClocks(lease.clock)
      return renewing(storage.refresh(address, requested)).pipe(
        Effect.timeout(attemptMillis),
        Effect.tapError(() => Effect.sync(() => lease.fail(begun, attemptMillis))),
        Effect.catchIf(
          () => requested.length > 0 && lease.isShown(),
          () => Effect.succeed(requested)
        ),
        Effect.catchTag("TimeoutError", (cause) => Effect.fail(new ClusterError.PersistenceError({ cause })))
      )
    })

  /** The list of nodes; the last one that was read while the database cannot be asked. */
  const getRunners: typeof storage.getRunners = Effect.suspend(() =>
    lease.isSettling() && runners.length > 0
      ? Effect.succeed(runners)
      : Effect.tap(storage.getRunners, (found) => Effect.sync(() => void (runners = found)))
  )

  return { renewing, refresh, getRunners }
}

/** More than this beyond its time limit, and the process itself was suspended during an attempt. */
const suspendedMillis = 500

/** The time for which the locks certainly belong to this node, and what is known after it. */
class Lease {
  readonly clock: Clock.Clock
  readonly expirationMillis: number
  private validSince: ClockReading | undefined
  /** The last failed attempt that began after the lease had ended. */
  private awayAt: ClockReading | undefined
  /** The last attempt that the database did not answer or refused. None once one succeeds. */
  private failedAt: ClockReading | undefined
  /** When the lease began again after such an attempt. */
  private backAt: ClockReading | undefined

  constructor(clock: Clock.Clock, expirationMillis: number) {
    this.clock = clock
    this.expirationMillis = expirationMillis
  }

  get hasBegun(): boolean {
    return this.validSince !== undefined
  }

  renew(begun: ClockReading): void {
    if (this.awayAt !== undefined) this.backAt = readClocks(this.clock)
    this.validSince = laterOf(this.validSince, begun)
    this.awayAt = undefined
    this.failedAt = undefined
  }

  /** Notes a failed attempt, unless the process was suspended meanwhile: then the failure says nothing. */
  fail(begun: ClockReading, limitMillis: number): void {
    this.failedAt = readClocks(this.clock)
    const wasSuspended = millisAtMost(this.clock, begun) > limitMillis + suspendedMillis
    if (this.pastMillis(begun) >= 0 && !wasSuspended) this.awayAt = readClocks(this.clock)
  }

  leftMillis(): number {
    return Math.max(0, -this.pastMillis(readClocks(this.clock)))
  }

  endedAt(): Millis | undefined {
    const isAway = this.awayAt !== undefined && millisAtMost(this.clock, this.awayAt) < this.expirationMillis
    if (!isAway || !this.isShown() || this.leftMillis() > 0) return undefined
    return this.clock.currentTimeMillisUnsafe() - this.pastMillis(readClocks(this.clock))
  }

  /** True while the lease lasts, and for a minute after it. */
  isShown(): boolean {
    return this.hasBegun && this.pastMillis(readClocks(this.clock)) < rememberedMillis
  }

  /**
   * True from the first refresh that fails until one succeeds, and after an absence of the database for the time of a
   * lease. All nodes have been silent then, so the list of nodes in the database does not show who is alive. It begins
   * before this node's lease ends: another node's last refresh may be older.
   */
  isSettling(): boolean {
    if (this.failedAt !== undefined) return millisAtMost(this.clock, this.failedAt) < this.expirationMillis
    return this.backAt !== undefined && millisAtMost(this.clock, this.backAt) < this.expirationMillis
  }

  /** Returns how long the lease has been over at a reading; negative while it lasts. */
  private pastMillis(at: ClockReading): number {
    if (this.validSince === undefined) return Infinity
    const { wallMillis, monotonicMillis } = this.validSince
    return Math.max(at.wallMillis - wallMillis, at.monotonicMillis - monotonicMillis) - this.expirationMillis
  }
}
