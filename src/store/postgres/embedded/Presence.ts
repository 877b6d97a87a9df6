/**
 * A process's presence on the embedded server: one connection that holds a shared advisory lock, like every other
 * process that uses the server. A process that leaves releases its lock and requests the exclusive one. It gets that
 * only if no other process is present. It may then stop the server, because no process can get the shared lock
 * meanwhile.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Queue, type Redacted, Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { username } from "./ServerFolder.ts"

/** The database inside the embedded server that holds Usher's tables. */
export const database = "usher"

/** The key of the lock. Any fixed number works; this one reads "usher". */
const presenceLock = 0x75_73_68_65_72n

export interface Presence {
  readonly port: number
  readonly connection: PgConnection.PgConnection
  /** Holds the connection. Closing it ends the presence. */
  readonly scope: Scope.Closeable
}

/** The credentials and the name of a process that takes a presence. */
export interface Visitor {
  readonly password: Redacted.Redacted
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
}

/** Takes a presence. Returns undefined if another process is about to stop the server. */
export const enter = (port: number, visitor: Visitor): Effect.Effect<Presence | undefined, SqlError> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const presence = yield* PgConnection.make({
      ...visitor,
      host: "127.0.0.1",
      port,
      database: "postgres",
      username
    }).pipe(
      Scope.provide(scope),
      Effect.tap(createDatabase),
      Effect.flatMap((connection) =>
        Effect.map(isTrue(connection, "select pg_try_advisory_lock_shared($1::bigint)"), (admitted) =>
          admitted ? { port, connection, scope } : undefined
        )
      ),
      Effect.onError(() => Scope.close(scope, Exit.void))
    )
    if (presence === undefined) yield* Scope.close(scope, Exit.void)
    return presence
  })

/** Gives up the shared lock. Returns true if no other process is present and none can become present. */
export const isLast = (presence: Presence): Effect.Effect<boolean, SqlError> =>
  Effect.andThen(
    isTrue(presence.connection, "select pg_advisory_unlock_shared($1::bigint)"),
    isTrue(presence.connection, "select pg_try_advisory_lock($1::bigint)")
  )

/** Returns when the connection has ended. */
export const untilLost = (presence: Presence): Effect.Effect<void> =>
  presence.connection.listen("usher_presence").pipe(
    Effect.flatMap((notifications) => Effect.forever(Queue.take(notifications))),
    Effect.scoped,
    Effect.ignore
  )

const isTrue = (connection: PgConnection.PgConnection, question: string) =>
  Effect.map(connection.queryValues(question, [presenceLock]), (rows) => rows[0]?.[0] === true)

const createDatabase = (connection: PgConnection.PgConnection) =>
  Effect.gen(function* () {
    const found = yield* connection.queryValues("select 1 from pg_database where datname = $1", [database])
    // Another process may create it at this moment. The database exists in either case.
    if (found.length === 0) yield* Effect.ignore(connection.query(`create database ${database}`))
  })
