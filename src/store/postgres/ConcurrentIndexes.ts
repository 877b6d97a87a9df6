/**
 * Builds the indexes of large tables, which `create index` would lock for as long as it takes. Postgres builds them next
 * to writes, but in no transaction, and a build that was ended leaves an invalid index. So each start looks for missing
 * and invalid ones. Of several processes one builds.
 */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentBounds } from "./BoundedClient.ts"

/** An index, and the rest of its `create index` statement after the name: `on places (status)`. */
export interface ConcurrentIndex {
  readonly name: string
  readonly definition: string
  /**
   * Writes a new column of the next rows after a key, before the index is built. Each statement is a transaction of its
   * own, and returns the key of its last row as `last`, and no row at the end.
   */
  readonly fill?: (after: string | null) => string
}

/** The key of the advisory lock. Any fixed number works. */
const indexLock = 0x75_73_68_65_74n

const isBuilt = Effect.fnUntraced(function* ({ name }: ConcurrentIndex) {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql`select from pg_index where indexrelid = to_regclass(${name}) and indisvalid`
  return found.length > 0
})

/** Builds the indexes that are missing. */
export const build = Effect.fnUntraced(
  function* (indexes: ReadonlyArray<ConcurrentIndex>) {
    const missing = yield* Effect.filter(indexes, (index) => Effect.map(isBuilt(index), (built) => !built))
    if (missing.length === 0) return
    const sql = yield* SqlClient.SqlClient
    const connection = yield* sql.reserve
    const run = (statement: string) => connection.executeUnprepared(statement, [], undefined)
    // A waiting statement would hold a snapshot, and the build would wait for its end. So this polls instead.
    yield* run(`select pg_try_advisory_lock(${indexLock}) as held`).pipe(
      Effect.repeat({ until: ([row]) => row.held === true, schedule: Schedule.spaced("250 millis") })
    )
    yield* Effect.forEach(
      missing,
      Effect.fnUntraced(function* (index) {
        // On the same connection, because the pool may have no other.
        const built = yield* run(`select from pg_index where indexrelid = to_regclass('${index.name}') and indisvalid`)
        if (built.length > 0) return
        let next = index.fill?.(null)
        while (next !== undefined) {
          const [row] = yield* run(next)
          next = row && index.fill?.(row.last as string)
        }
        yield* run(`drop index concurrently if exists ${index.name}`)
        yield* run(`create index concurrently ${index.name} ${index.definition}`)
      }),
      { discard: true }
    ).pipe(
      (building) => Effect.andThen(run("set statement_timeout = 0"), building),
      Effect.ensuring(Effect.ignore(run(`select pg_advisory_unlock(${indexLock})`))),
      Effect.ensuring(Effect.ignore(run("reset statement_timeout")))
    )
  },
  Effect.provideService(CurrentBounds, { connectionMillis: 5_000, statementMillis: Infinity }),
  Effect.scoped
)
