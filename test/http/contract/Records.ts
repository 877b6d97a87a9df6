/** A summary of the database, enough to find the tables that changed. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { placesWritten } from "../../store/support/placesWritten.ts"

/** By table: the number of its rows and the latest transaction that wrote one of them. */
export type Records = { readonly [table: string]: string }

/** `nodes` is written every two seconds. The others record refusals and sent messages some time after the response. */
const writtenLater = ["nodes", "security_events", "sent_messages"]

/** Returns the summary of every table that a request writes before its response. */
export const records = Effect.gen(function* () {
  yield* placesWritten
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ readonly name: string }>`
    select tablename as name from pg_tables
    where schemaname = 'public' and tablename <> all(${writtenLater}) order by 1`
  const each = tables.map(
    ({ name }) => `select '${name}' as name, count(*) || ' rows, ' || max(xmin::text::bigint) as held from "${name}"`
  )
  const rows = yield* sql.unsafe<{ readonly name: string; readonly held: string | null }>(each.join(" union all "))
  const held: Records = Object.fromEntries(rows.map(({ name, held }) => [name, held ?? "nothing"]))
  return held
}).pipe(Effect.orDie)

/** Returns the tables that differ. */
export const changed = (before: Records, after: Records): ReadonlyArray<string> =>
  Object.keys(after).filter((table) => before[table] !== after[table])
