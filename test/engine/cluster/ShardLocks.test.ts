import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { RunnerAddress, RunnerStorage, ShardingConfig } from "effect/cluster"
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

const owners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ shard_id: string }>`select shard_id from cluster_locks where address = '127.0.0.1:1'`
})

describe("The locks of shards", () => {
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

  it.live("survive a short outage of the database, and are lost when they are no longer certain", () =>
    Effect.gen(function* () {
      const { areValid } = yield* ShardLocks.ShardLocks
      const storage = yield* RunnerStorage.RunnerStorage
      const sql = yield* SqlClient.SqlClient
      yield* storage.acquire(own, shards)
      yield* sql`alter table cluster_locks rename to cluster_locks_away`
      yield* clock.putForward(1_000)
      assert.deepStrictEqual(yield* storage.refresh(own, shards), shards)
      yield* clock.putForward(1_000)
      assert.deepStrictEqual(yield* storage.refresh(own, shards), shards)
      yield* clock.putForward(1_000)
      assert.isFalse(areValid())
      assert.isTrue(Exit.isFailure(yield* Effect.exit(storage.refresh(own, shards))))
      yield* sql`alter table cluster_locks_away rename to cluster_locks`
      assert.strictEqual((yield* storage.refresh(own, shards)).length, 3)
      assert.isTrue(areValid())
    }).pipe(Effect.provide(layer))
  )
})
