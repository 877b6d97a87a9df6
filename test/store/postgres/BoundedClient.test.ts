import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as BoundedClient from "../../../src/store/postgres/BoundedClient.ts"
import { databaseProxy } from "../support/databaseProxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** Bounds that are short enough for a test. */
const shortBounds = { connectionMillis: 300, statementMillis: 300 }
const soon = Effect.provideService(BoundedClient.CurrentBounds, shortBounds)

const aClient = Effect.fnUntraced(function* (maxConnections: number, startupParameters: Record<string, string> = {}) {
  const { url } = yield* TestDatabase.emptyDatabase
  const proxy = yield* databaseProxy(url)
  const sql = yield* BoundedClient.make({
    url: Redacted.make(proxy.url),
    maxConnections,
    connectTimeout: "3 seconds",
    startupParameters
  }).pipe(Effect.provide(Reactivity.layer))
  yield* sql`create table things (name text)`
  return { proxy, sql }
})

/** Returns the message of an effect's typed failure. A defect is not a failure. */
const failureOf = <A>(effect: Effect.Effect<A, SqlError>) =>
  Effect.map(Effect.flip(effect), (error) => (error.reason.cause as Error).message)

const pidOf = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ pid: number }>`select pg_backend_pid() as pid`, (rows) => rows[0]!.pid)

/** Returns once the server has ended a connection. */
const gone = (sql: SqlClient.SqlClient, pid: number) =>
  sql`select from pg_stat_activity where pid = ${pid}`.pipe(
    Effect.repeat({ until: (rows) => rows.length === 0, schedule: Schedule.spaced("20 millis") })
  )

/** Returns once the database has exactly this many connections of the client. */
const connectionsAre = (sql: SqlClient.SqlClient, count: number) =>
  sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'`.pipe(
    Effect.repeat({ until: (rows) => rows[0]!.count === count, schedule: Schedule.spaced("20 millis") })
  )

describe("A bounded client", () => {
  it.live("gives up an unanswered statement, and never leases its connection again", () =>
    Effect.gen(function* () {
      const { proxy, sql } = yield* aClient(1)
      const before = yield* pidOf(sql)
      proxy.isSilent = true
      assert.strictEqual(yield* failureOf(soon(sql`select 1`)), "The database did not answer in time")
      // The server does not answer a new connection either, and the wait for it has a bound too.
      assert.match(
        yield* failureOf(soon(sql`select 1`)),
        /^(No connection to the database was free in time|Connection timed out)/
      )
      proxy.isSilent = false
      assert.notStrictEqual(yield* Effect.retry(pidOf(sql), Schedule.spaced("20 millis")), before)
      yield* connectionsAre(sql, 1)
    })
  )

  it.live("ends an unanswered transaction in time, whichever of its statements it waits for", () =>
    Effect.gen(function* () {
      const { proxy, sql } = yield* aClient(2)
      const silence = Effect.sync(() => void (proxy.isSilent = true))
      const insert = sql`insert into things values ('lost')`
      for (const transaction of [
        Effect.andThen(insert, silence),
        Effect.andThen(silence, insert),
        Effect.andThen(insert, Effect.andThen(silence, Effect.fail("refused" as const)))
      ]) {
        yield* pidOf(sql)
        const exit = yield* Effect.exit(soon(sql.withTransaction<never, unknown, unknown>(transaction)))
        assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
        proxy.isSilent = false
      }
      // The last case fails with the caller's own refusal, not with the failed rollback.
      yield* pidOf(sql)
      const refused = yield* Effect.flip(
        soon(sql.withTransaction(Effect.andThen(insert, Effect.andThen(silence, Effect.fail("refused" as const)))))
      )
      assert.strictEqual(refused, "refused")
      proxy.isSilent = false
      assert.deepStrictEqual(yield* sql`select * from things`, [])
    })
  )

  it.live("has a bound on the begin of a transaction", () =>
    Effect.gen(function* () {
      const { proxy, sql } = yield* aClient(1)
      yield* pidOf(sql)
      proxy.isSilent = true
      assert.include(yield* failureOf(soon(sql.withTransaction(sql`select 1`))), "did not answer in time")
    })
  )

  it.live("fails without a defect in a transaction whose connection is cut, including nested ones", () =>
    Effect.gen(function* () {
      const { proxy, sql } = yield* aClient(2)
      const context = yield* Effect.context<never>()
      const outside = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.promise(() => Effect.runPromiseWith(context)(effect))
      const insert = sql`insert into things values ('lost')`
      const cutAndInsert = Effect.andThen(proxy.cut, insert)
      const ended = sql`select pg_terminate_backend(pg_backend_pid())`
      const endedWhileIdle = Effect.gen(function* () {
        const pid = yield* pidOf(sql)
        yield* outside(sql`select pg_terminate_backend(${pid})`)
        yield* outside(gone(sql, pid))
        return yield* insert
      })
      for (const transaction of [cutAndInsert, sql.withTransaction(cutAndInsert), ended, endedWhileIdle]) {
        const exit = yield* Effect.exit(sql.withTransaction(Effect.andThen(insert, transaction)))
        assert.isTrue(Exit.isFailure(exit) && !Cause.hasDies(exit.cause))
      }
      assert.deepStrictEqual(yield* sql`select * from things`, [])
      yield* sql.withTransaction(Effect.andThen(insert, sql.withTransaction(insert)))
      assert.strictEqual((yield* sql`select * from things`).length, 2)
    })
  )

  it.live("bounds a caller's wait for a free connection", () =>
    Effect.gen(function* () {
      const { sql } = yield* aClient(1)
      const holder = yield* Effect.forkChild(sql.withTransaction(Effect.andThen(sql`select 1`, Effect.never)), {
        startImmediately: true
      })
      yield* Effect.sleep("50 millis")
      assert.include(yield* failureOf(soon(sql`select 1`)), "No connection to the database was free in time")
      yield* Fiber.interrupt(holder)
      assert.strictEqual((yield* soon(sql`select 1`)).length, 1)
    })
  )

  it.live("releases an interrupted caller, where the driver alone would wait much longer for the server", () =>
    Effect.gen(function* () {
      const { proxy, sql } = yield* aClient(1)
      const driver = yield* PgClient.make({ url: Redacted.make(proxy.url), maxConnections: 1 }).pipe(
        Effect.provide(Reactivity.layer)
      )
      const asked = (client: SqlClient.SqlClient) => Effect.timeoutOption(client`select 1`, "100 millis")
      yield* Effect.all([pidOf(sql), pidOf(driver)])
      proxy.isSilent = true
      const first = yield* Effect.raceFirst(
        Effect.as(asked(driver), "the driver"),
        Effect.as(asked(sql), "the bounded client")
      )
      assert.strictEqual(first, "the bounded client")
    })
  )

  it.live("has shorter bounds while the database is known to be away", () =>
    Effect.gen(function* () {
      const { proxy, sql } = yield* aClient(1)
      const availability = { isAway: false }
      const config = { url: Redacted.make(proxy.url), maxConnections: 1 }
      const aware = yield* BoundedClient.make(config, availability).pipe(Effect.provide(Reactivity.layer))
      yield* Effect.all([pidOf(sql), pidOf(aware)])
      proxy.isSilent = true
      availability.isAway = true
      const first = yield* Effect.raceFirst(
        Effect.as(Effect.flip(sql`select 1`), "unaware"),
        Effect.as(Effect.flip(aware`select 1`), "aware")
      )
      assert.strictEqual(first, "aware")
      proxy.isSilent = false
      availability.isAway = false
      yield* Effect.retry(aware`select 1`, Schedule.spaced("20 millis"))
      yield* aware`select pg_sleep(2.5)`
    })
  )

  it.live("leaves slow statements to the server, which cancels them, and keeps the connection", () =>
    Effect.gen(function* () {
      const { sql } = yield* aClient(1, { statement_timeout: "200" })
      const before = yield* pidOf(sql)
      const error = yield* Effect.flip(sql`select pg_sleep(10)`)
      assert.strictEqual(error.reason._tag, "StatementTimeoutError")
      assert.strictEqual(yield* pidOf(sql), before)
      const slept = BoundedClient.withoutBounds(sql`select pg_sleep(0.5)`)
      yield* soon(slept).pipe(Effect.provideService(SqlClient.SqlClient, sql))
      assert.strictEqual((yield* Effect.flip(sql`select pg_sleep(10)`)).reason._tag, "StatementTimeoutError")
    })
  )
})
