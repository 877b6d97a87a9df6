/**
 * The processes that share this database's mechanisms: their names, and what each was started with. Whether one is alive,
 * and which shards it owns, is told by the tables of `effect/cluster` beside it.
 */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { orUnavailable } from "./SqlFailure.ts"

/** What a node was started with. */
export interface Node {
  /** Where the others reach it: host and port. */
  readonly address: string
  readonly name: string
  /** The step of the schema that its program knows. */
  readonly schemaStep: number
  readonly lockSeconds: number
}

/** A node that is there. */
const AliveNode = Schema.Struct({
  address: Schema.String,
  name: Schema.String,
  schemaStep: Schema.Int,
  lockSeconds: Schema.Int,
  startedAt: Schema.Date,
  /** When it was last heard, by the database's clock. */
  heardAt: Schema.Date,
  /** How many shards it owns. */
  shards: Schema.Int,
  /** How many mechanisms run there, as it said itself a moment ago. */
  mechanisms: Schema.Int
})
export type AliveNode = typeof AliveNode.Type

/** The nodes that are alive, the longest running first; none where no node has ever been. */
export const alive = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const select = SqlSchema.findAll({
    Request: Schema.Void,
    Result: AliveNode,
    execute: () => sql`
      select address, name, schema_step as "schemaStep", lock_seconds as "lockSeconds", started_at as "startedAt",
        last_heartbeat at time zone current_setting('TimeZone') as "heardAt", mechanisms,
        (select count(*)::int4 from cluster_locks where cluster_locks.address = nodes.address) as shards
      from nodes join cluster_runners using (address)
      where last_heartbeat > localtimestamp - make_interval(secs => lock_seconds)
      order by started_at, address`
  })
  const [tables] = yield* sql<{ exist: boolean }>`
    select to_regclass('nodes') is not null and to_regclass('cluster_runners') is not null as exist`
  return tables?.exist === true ? yield* select() : []
}).pipe(
  Effect.catchTag("SchemaError", (error) => Effect.die(error)),
  orUnavailable
)

/** Writes down what a node was started with; whatever was at its address is no more. */
export const enter = ({ address, name, schemaStep, lockSeconds }: Node) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into nodes (address, name, schema_step, lock_seconds, started_at)
      values (${address}, ${name}, ${schemaStep}, ${lockSeconds}, now())
      on conflict (address) do update
      set name = excluded.name, schema_step = excluded.schema_step, lock_seconds = excluded.lock_seconds,
        started_at = excluded.started_at, mechanisms = 0`
  }).pipe(orUnavailable)

/** Writes down how many mechanisms run in the node of this name. */
export const report = (name: string, mechanisms: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`update nodes set mechanisms = ${mechanisms} where name = ${name} and mechanisms <> ${mechanisms}`
  }).pipe(orUnavailable)

/** The address of the node that owns a shard, by the number of the shard; of those that are owned. */
export const owners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly shard: number; readonly address: string }>`
    select split_part(shard_id, ':', 2)::int4 as shard, address from cluster_locks`
  return new Map(rows.map(({ shard, address }) => [shard, address]))
}).pipe(orUnavailable)
