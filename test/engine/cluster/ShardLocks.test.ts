import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option } from "effect"
import { Runner, RunnerAddress, RunnerStorage, ShardingConfig } from "effect/cluster"
import { SqlClient } from "effect/sql"
import * as ShardLocks from "../../../src/engine/cluster/ShardLocks.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const expirationMillis = 3_000
const own = RunnerAddress.make("127.0.0.1", 1)
const other = RunnerAddress.make("127.0.0.1", 2)

const config = ShardingConfig.layer({
  runnerAddress: Option.some(own),
  shardsPerGroup: ShardLocks.shardsMax,
  shardLockExpiration: expirationMillis,
  shardLockDisableAdvisory: true
})

const clock = movableClock()

const layer = ShardLocks.layer({ expirationMillis }).pipe(
  Layer.provide(config),
  Layer.provideMerge(TestDatabase.layer),
  Layer.provide(clock.layer),
  Layer.orDie
)

const shards = ShardLocks.allShards.slice(0, 3)

/** Takes the locks' table away, until the result is run. */
const away = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table cluster_locks rename to cluster_locks_away`
  return sql`alter table cluster_locks_away rename to cluster_locks`
})

const owners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ shard_id: string }>`select shard_id from cluster_locks where address = '127.0.0.1:1'`
})

describe("The locks of shards", () => {
  it.live("have no owner while only fronts are healthy, and then a node that was marked as unhealthy returns", () =>
    Effect.gen(function* () {
      const { haveOwner, ownerless } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      yield* storage.register(Runner.make({ address: other, groups: [], weight: 1 }), true)
      yield* storage.register(Runner.make({ address: own, groups: [ShardLocks.shardGroup], weight: 1 }), false)
      yield* storage.getRunners
      assert.isFalse(haveOwner())
      yield* ownerless
      yield* storage.getRunners
      assert.isTrue(haveOwner())
      assert.isUndefined((yield* Effect.forkChild(ownerless, { startImmediately: true })).pollUnsafe())
    }).pipe(Effect.provide(layer))
  )

  it.live("are valid from their acquisition until their lifetime without a refresh has passed", () =>
    Effect.gen(function* () {
      const { areValid } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      assert.isFalse(areValid())
      assert.strictEqual((yield* storage.acquire(own, shards)).length, 3)
      assert.isTrue(areValid())
      yield* clock.putForward(expirationMillis)
      assert.isFalse(areValid())
      assert.strictEqual((yield* storage.refresh(own, shards)).length, 3)
      assert.isTrue(areValid())
    }).pipe(Effect.provide(layer))
  )

  it.live("that were acquired later expire with the last refresh", () =>
    Effect.gen(function* () {
      const { areValid } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      yield* storage.acquire(own, shards)
      yield* clock.putForward(expirationMillis - 500)
      yield* storage.acquire(own, ShardLocks.allShards.slice(3, 6))
      yield* clock.putForward(500)
      assert.isFalse(areValid())
    }).pipe(Effect.provide(layer))
  )

  it.live("are released only after their mechanisms have stopped", () =>
    Effect.gen(function* () {
      const locks = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      const sql = yield* SqlClient.SqlClient
      const stops: Array<string> = []
      locks.onRelease((isLost) =>
        Effect.map(Effect.provideService(Effect.orDie(owners), SqlClient.SqlClient, sql), ({ length }) => {
          const lost = shards.filter(({ id }) => isLost(id)).map(({ id }) => id)
          stops.push(`${lost.join()} of ${length}`)
        })
      )
      yield* storage.acquire(own, shards)
      yield* storage.release(own, shards[0]!)
      yield* storage.releaseAll(own)
      assert.deepStrictEqual(stops, ["1 of 3", "1,2,3 of 2"])
      assert.deepStrictEqual(yield* owners, [])
    }).pipe(Effect.provide(layer))
  )

  it.live("that another node has taken are noticed at the next refresh, and their mechanisms are stopped", () =>
    Effect.gen(function* () {
      const locks = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      const sql = yield* SqlClient.SqlClient
      const lost: Array<number> = []
      locks.onRelease((isLost) => Effect.sync(() => void lost.push(...shards.map(({ id }) => id).filter(isLost))))
      yield* storage.acquire(own, shards)
      yield* sql`update cluster_locks set address = ${`${other.host}:${other.port}`} where shard_id like '%:2'`
      const kept = yield* storage.refresh(own, shards)
      assert.sameMembers(
        kept.map(({ id }) => id),
        [1, 3]
      )
      yield* Effect.yieldNow
      assert.deepStrictEqual(lost, [2])
    }).pipe(Effect.provide(layer))
  )

  it.live("survive a short outage of the database, and end when they are no longer certain", () =>
    Effect.gen(function* () {
      const { areValid, endedAt } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      yield* storage.acquire(own, shards)
      const back = yield* away
      yield* clock.putForward(1_000)
      assert.deepStrictEqual(yield* storage.refresh(own, shards), shards)
      yield* clock.putForward(1_000)
      assert.deepStrictEqual(yield* storage.refresh(own, shards), shards)
      assert.isTrue(areValid())
      assert.isUndefined(endedAt())
      yield* clock.putForward(1_000)
      assert.isFalse(areValid())
      yield* back
      assert.strictEqual((yield* storage.refresh(own, shards)).length, 3)
      assert.isTrue(areValid())
    }).pipe(Effect.provide(layer))
  )

  it.live("keep their node for a minute in which the database is away, and say when they ended", () =>
    Effect.gen(function* () {
      const { areValid, endedAt } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      yield* storage.acquire(own, shards)
      const back = yield* away
      for (const seconds of [5, 20, 30]) {
        yield* clock.putForward(seconds * 1_000)
        const at = endedAt() ?? clock.now()
        assert.deepStrictEqual(yield* storage.refresh(own, shards), shards)
        assert.isFalse(areValid())
        assert.isAtMost(endedAt()!, at)
      }
      assert.closeTo(endedAt()!, clock.now() - 52_000, 1_500)
      yield* clock.putForward(10_000)
      assert.isUndefined(endedAt())
      assert.isTrue(Exit.isFailure(yield* Effect.exit(storage.refresh(own, shards))))
      yield* back
      yield* storage.refresh(own, shards)
      assert.isTrue(areValid())
      assert.isUndefined(endedAt())
    }).pipe(Effect.provide(layer))
  )

  it.live("of a node that was suspended are not shown before the database was asked", () =>
    Effect.gen(function* () {
      const { areValid, endedAt } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      const sql = yield* SqlClient.SqlClient
      yield* storage.acquire(own, shards)
      yield* clock.putForward(10_000)
      assert.isFalse(areValid())
      assert.isUndefined(endedAt(), "nothing was tried since")

      // An attempt that a suspension has interrupted says nothing either.
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`lock table cluster_locks in access exclusive mode`
          const attempt = yield* Effect.forkChild(Effect.exit(storage.refresh(own, shards)), { startImmediately: true })
          yield* Effect.sleep("100 millis")
          yield* clock.putForward(10_000)
          yield* Fiber.join(attempt)
        })
      )
      assert.isUndefined(endedAt())

      // The database answers: another node has them.
      yield* sql`update cluster_locks set address = ${`${other.host}:${other.port}`}`
      assert.deepStrictEqual(yield* storage.refresh(own, shards), [])
      assert.isUndefined(endedAt())
    }).pipe(Effect.provide(layer))
  )

  it.live("of a failure that is long ago are not shown, because the database may be back", () =>
    Effect.gen(function* () {
      const { endedAt } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      yield* storage.acquire(own, shards)
      const back = yield* away
      yield* clock.putForward(5_000)
      yield* storage.refresh(own, shards)
      assert.isDefined(endedAt())
      yield* clock.putForward(expirationMillis)
      assert.isUndefined(endedAt())
      yield* back
    }).pipe(Effect.provide(layer))
  )

  it.live("stay with the nodes that were known before the first refresh that failed", () =>
    Effect.gen(function* () {
      const { areValid } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      const known = Effect.map(storage.getRunners, (found) => found.map(([{ address }]) => address.port))
      const sql = yield* SqlClient.SqlClient
      for (const address of [own, other]) {
        yield* storage.register(new Runner.Runner({ address, groups: ["default"], weight: 1 }), true)
      }
      yield* storage.acquire(own, shards)
      assert.sameMembers(yield* known, [1, 2])
      const back = yield* away
      yield* storage.refresh(own, shards)
      yield* sql`update cluster_runners set last_heartbeat = last_heartbeat - interval '1 minute' where address like '%:2'`
      assert.isTrue(areValid())
      assert.sameMembers(yield* known, [1, 2], "the row of the other one has expired first")
      yield* back
      yield* storage.refresh(own, shards)
      assert.sameMembers(yield* known, [1])
    }).pipe(Effect.provide(layer))
  )

  it.live("stay with the nodes that were known before, until all could report to the database again", () =>
    Effect.gen(function* () {
      const storage = yield* RunnerStorage.RunnerStorage
      const known = Effect.map(storage.getRunners, (found) => found.map(([{ address }]) => address.port))
      const sql = yield* SqlClient.SqlClient
      for (const address of [own, other]) {
        yield* storage.register(new Runner.Runner({ address, groups: ["default"], weight: 1 }), true)
      }
      yield* storage.acquire(own, shards)
      assert.sameMembers(yield* known, [1, 2])
      const back = yield* away
      yield* clock.putForward(5_000)
      yield* storage.refresh(own, shards)
      yield* back
      yield* sql`update cluster_runners set last_heartbeat = last_heartbeat - interval '1 minute'`
      assert.sameMembers(yield* known, [1, 2])
      yield* storage.refresh(own, shards)
      assert.sameMembers(yield* known, [1, 2], "the other one had no time to report")
      yield* clock.putForward(expirationMillis)
      assert.sameMembers(yield* known, [1])
    }).pipe(Effect.provide(layer))
  )
})
