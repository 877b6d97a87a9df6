/**
 * The processes that serve from this database: their names, their start options, and the time of their last
 * heartbeat. A node of a cluster also has an address, and the tables of `effect/cluster` say which shards it owns.
 */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Release } from "../../domain/values/Release.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { DatabaseTime } from "./DatabaseClock.ts"
import * as Time from "./Time.ts"

/** A process without a heartbeat for this long counts as gone, unless the cluster receives its heartbeats. */
export const silentSeconds = 10

/** The row of a process without a heartbeat for this long is removed. */
const keptSeconds = 60

/** The start options of a process. */
export interface Process {
  readonly id: string
  readonly name: string
  readonly release: Release
}

/** The options that make a process a node of a cluster. */
export interface Membership {
  /** The host and port at which other nodes reach it. */
  readonly address: string
  readonly lockSeconds: number
}

/** A node at the moment it joins a cluster. */
export interface Node extends Membership, Omit<Process, "id"> {}

/** A live process. Address, lock and shards are null if it is not a node of a cluster. */
const AliveProcess = Schema.Struct({
  id: Schema.NullOr(Schema.String),
  address: Schema.NullOr(Schema.String),
  name: Schema.String,
  release: Release,
  lockSeconds: Schema.NullOr(Schema.Int),
  startedAt: Schema.Date,
  /** The time of its last heartbeat, by the database's clock. */
  heardAt: Schema.Date,
  /** How many shards it owns. */
  shards: Schema.NullOr(Schema.Int),
  /** How many mechanisms run in it, as it last reported. */
  mechanisms: Schema.Int,
  /** True if the cluster receives its heartbeats. */
  isNode: Schema.Boolean
})
export type AliveProcess = typeof AliveProcess.Type

/** A node whose heartbeats the cluster receives. */
export interface AliveNode extends AliveProcess {
  readonly address: string
  readonly lockSeconds: number
  readonly shards: number
}

/** All live processes, the longest running first. Empty on a database that no process has ever used. */
export const heard = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [tables] = yield* sql<{ nodes: boolean; cluster: boolean }>`
    select to_regclass('nodes') is not null as nodes, to_regclass('cluster_runners') is not null as cluster`
  const { nodes, cluster } = tables!
  if (!nodes) return []
  const runners = cluster
    ? sql`cluster_runners`
    : sql`(select null::text as address, null::timestamp as last_heartbeat where false) as cluster_runners`
  const locks = cluster
    ? sql`(select count(*)::int4 from cluster_locks where cluster_locks.address = nodes.address)`
    : sql`0`
  const isNode = sql`coalesce(last_heartbeat > localtimestamp - make_interval(secs => lock_seconds), false)`
  const select = SqlSchema.findAll({
    Request: Schema.Void,
    Result: AliveProcess,
    execute: () => sql`
      select id, nodes.address, name, release, lock_seconds as "lockSeconds", started_at as "startedAt",
        greatest(heard_at, last_heartbeat at time zone current_setting('TimeZone')) as "heardAt", mechanisms,
        case when nodes.address is not null then ${locks} end as shards, ${isNode} as "isNode"
      from nodes left join ${runners} on cluster_runners.address = nodes.address
      where ${isNode} or heard_at > clock_timestamp() - make_interval(secs => ${silentSeconds})
      order by started_at, nodes.address, id`
  })
  return yield* select()
}).pipe(
  Effect.catchTag("SchemaError", (error) => Effect.die(error)),
  orUnavailable
)

/** The live nodes of the cluster, the longest running first. */
export const alive = Effect.map(heard, (processes) =>
  processes.filter((process): process is AliveNode => process.isNode && process.address !== null)
)

/** Inserts the row of a process. */
export const enter = ({ id, name, release }: Process) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into nodes (id, name, release, started_at)
      values (${id}, ${name}, ${JSON.stringify(release)}::jsonb, now())
      on conflict (id) do update set heard_at = now()`
  })

/** Records that a process is a node of the cluster. Removes the row of a former process with its address. */
export const join = (id: string, { address, lockSeconds }: Membership) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`delete from nodes where address = ${address} and id <> ${id}`
    yield* sql`update nodes set address = ${address}, lock_seconds = ${lockSeconds} where id = ${id}`
  })

/**
 * Records a heartbeat of a process, and removes processes that have long been silent. Returns whether the row still
 * exists, the installation's base of the schema, format version and timeline, whether it is on hold, and the database's time.
 */
export const beat = (id: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const clock = yield* Time.serverClock
    const sentNanos = clock.monotonicTimeNanosUnsafe()
    const [row] = yield* sql<BeatRow>`
      with own as (update nodes set heard_at = now() where id = ${id} returning 1),
        removed as (
          delete from nodes where heard_at < now() - make_interval(secs => ${keptSeconds}) and id <> ${id} returning 1
        )
      select exists (select from own) as "isThere", schema_base as base, format_version as "formatVersion", timeline,
        held_at is not null as "isHeld", clock_timestamp() as at
      from installation`
    const { at, ...found } = row!
    const time: DatabaseTime = {
      databaseMillis: at.getTime(),
      sentNanos,
      receivedNanos: clock.monotonicTimeNanosUnsafe()
    }
    return { ...found, time }
  })

interface BeatRow {
  readonly isThere: boolean
  readonly base: number
  readonly formatVersion: number
  readonly timeline: string
  readonly isHeld: boolean
  readonly at: Date
}

/** Removes the row of a process that stops. */
export const leave = (id: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`delete from nodes where id = ${id}`))

/** Records how many mechanisms run in a process. */
export const report = (id: string, mechanisms: number) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.asVoid(sql`update nodes set mechanisms = ${mechanisms} where id = ${id} and mechanisms <> ${mechanisms}`)
  ).pipe(orUnavailable)

/** The address of the node that owns each shard, by the number of the shard. Contains only shards with an owner. */
export const owners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly shard: number; readonly address: string }>`
    select split_part(shard_id, ':', 2)::int4 as shard, address from cluster_locks`
  return new Map(rows.map(({ shard, address }) => [shard, address]))
}).pipe(orUnavailable)
