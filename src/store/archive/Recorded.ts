/**
 * How many events the journals of a database have: as their heads say, and as they are stored. The journals that
 * `usher archive` has moved to files count in neither.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Manifest } from "./Manifest.ts"

type Heads = Manifest["heads"]

const isStored = (sql: SqlClient.SqlClient, mechanismId: string) =>
  sql`not exists (select from archived_journals a where a.mechanism_id = ${sql(mechanismId)})`

/** Counts by the heads. */
export const expected = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<Heads>`
      select (select count(*)::float8 from mechanism_heads) as mechanisms, coalesce(sum(h.sequence), 0)::float8 as events
      from mechanism_heads h where ${isStored(sql, "h.mechanism_id")}`,
    ([row]) => row!
  )

/** Counts the events themselves. */
export const stored = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<Heads>`
      select (select count(*)::float8 from mechanism_heads) as mechanisms, count(*)::float8 as events
      from journal j where ${isStored(sql, "j.mechanism_id")}`,
    ([row]) => row!
  )
