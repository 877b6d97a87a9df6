/**
 * Removes the rows of an archived month from the database. First one transaction notes the archive and its mechanisms:
 * from then on they count as archived. Then the rows go in batches, each a short transaction, with a pause after each. An
 * ended removal is continued by the next command.
 */
import { Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { basename } from "node:path"
import type { Month } from "./Month.ts"
import { hindranceOf, stateOf, stored } from "./MonthPlan.ts"
import { monthRefused } from "./MonthRefused.ts"
import type { WrittenMonth } from "./MonthWriter.ts"
import * as Time from "../../coordination/Time.ts"

/** Rows that one statement removes. */
const rowsAtOnce = 5_000

/** The first id. */
const before = "00000000-0000-0000-0000-000000000000"

/** An archive as the database knows it. */
export interface Archive {
  readonly id: string
  readonly month: Month
  /** The file's name without its folder. */
  readonly file: string
  readonly manifestSha256: string
  readonly mechanisms: number
  readonly events: number
  readonly places: number
  readonly madeAt: Date
  /** Null while rows are still in the database. */
  readonly removedAt: Date | null
}

/** Returns all archives, the oldest month first. */
export const archives = (sql: SqlClient.SqlClient) => sql<Archive>`
  select id::text, to_char(month, 'YYYY-MM') as month, file, manifest_sha256 as "manifestSha256", mechanisms,
    events::float8 as events, places::float8 as places, made_at as "madeAt", removed_at as "removedAt"
  from archives order by archives.month, made_at`

/** Notes the archive. Refuses if the month has changed since it was written. */
export const note = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, { manifest, path, sha256 }: WrittenMonth) {
  const { id, month, mechanisms, events, places, at } = manifest
  yield* Effect.gen(function* () {
    const state = yield* stateOf(sql, month)
    const hindrance = hindranceOf(state)
    if (hindrance !== undefined || state.mechanisms !== mechanisms || state.events !== events) {
      return yield* monthRefused(`${month} has changed since ${path} was written. Remove the file, and try again.`)
    }
    yield* sql`
      insert into archives (id, month, file, manifest_sha256, mechanisms, events, places, made_at)
      values (${id}, ${`${month}-01`}, ${basename(path)}, ${sha256}, ${mechanisms}, ${events}, ${places}, ${at})`
    yield* sql`
      insert into archived_journals (mechanism_id, archive_id)
      select m.id, ${id}::uuid from mechanisms m where ${sql.literal(stored(month))}`
    // Grants of these mechanisms have ended, so no message about them is needed.
    yield* sql`
      update grant_messages g set outcome = 'abandoned', retry_at = null from archived_journals a
      where a.archive_id = ${id}::uuid and g.mechanism_id = a.mechanism_id and g.retry_at is not null`
  }).pipe(sql.withTransaction)
})

/** Removes the rows of a noted archive. `onRows` runs with the rows that were removed since the last call. */
export const removeRows = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  archive: Pick<Archive, "id">,
  onRows: (rows: number) => Effect.Effect<void>
) {
  const mechanisms = yield* sql<{ readonly id: string }>`
    select mechanism_id::text as id from archived_journals where archive_id = ${archive.id} order by mechanism_id`
  for (const { id } of mechanisms) {
    let sequence: number | null = 0
    while (sequence !== null) sequence = yield* gently(removeEvents(sql, id, sequence), onRows)
    let consumer: string | null = before
    while (consumer !== null) consumer = yield* gently(removePlaces(sql, id, consumer), onRows)
  }
  yield* sql`update archives set removed_at = now() where id = ${archive.id}`
})

/** The rows that one statement removed, and where the next one continues; null at the end. */
interface Removed<A> {
  readonly rows: number
  readonly last: A | null
}

const removeEvents = (sql: SqlClient.SqlClient, mechanismId: string, after: number) =>
  Effect.map(
    sql<Removed<number>>`
      with gone as (
        delete from journal where mechanism_id = ${mechanismId} and sequence > ${after} and sequence <= (
          select max(sequence) from (
            select sequence from journal where mechanism_id = ${mechanismId} and sequence > ${after}
            order by sequence limit ${rowsAtOnce}
          ) next
        ) returning sequence
      )
      select count(*)::int4 as rows, max(sequence)::float8 as last from gone`,
    ([row]) => row!
  )

const removePlaces = (sql: SqlClient.SqlClient, mechanismId: string, after: string) =>
  Effect.map(
    sql<Removed<string>>`
      with next as (
        select consumer_id from places where mechanism_id = ${mechanismId} and consumer_id > ${after}::uuid
        order by consumer_id limit ${rowsAtOnce}
      ), gone as (
        delete from places p using next where p.mechanism_id = ${mechanismId} and p.consumer_id = next.consumer_id
        returning p.consumer_id
      )
      select count(*)::int4 as rows, max(consumer_id::text) as last from gone`,
    ([row]) => row!
  )

/** Runs a statement, and then pauses for as long as it took. So servers have at least half of the disk's throughput. */
const gently = <A, E, R>(
  removal: Effect.Effect<Removed<A>, E, R>,
  onRows: (rows: number) => Effect.Effect<void>
): Effect.Effect<A | null, E, R> =>
  Effect.gen(function* () {
    const from = yield* Time.serverNow
    const { rows, last } = yield* removal
    yield* onRows(rows)
    if (last !== null && rows === rowsAtOnce) {
      yield* Effect.sleep(Duration.millis((yield* Time.serverNow) - from))
    }
    return last
  })
