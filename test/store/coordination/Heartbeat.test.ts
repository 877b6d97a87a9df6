import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Redacted, Schedule, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { Availability } from "../../../src/store/coordination/Availability.ts"
import * as BoundedClient from "../../../src/store/postgres/BoundedClient.ts"
import { Heartbeat } from "../../../src/store/coordination/Heartbeat.ts"
import * as Migrations from "../../../src/store/postgres/Migrations.ts"
import { latest } from "../../../src/store/postgres/Steps.ts"
import { release } from "../../../src/domain/values/Release.ts"
import * as Nodes from "../../../src/store/coordination/Nodes.ts"
import { exclusiveRelease, rewritten } from "../../e2e/support/release/nextRelease.ts"
import { connect } from "../support/connections.ts"
import { databaseProxy } from "../support/databaseProxy.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** A process on the database at `url`, until the scope closes. */
const aProcess = Effect.fnUntraced(function* (url: string, name: string) {
  const sql = yield* BoundedClient.make({ url: Redacted.make(url), maxConnections: 2 }).pipe(
    Effect.provide(Reactivity.layer)
  )
  const services = Context.make(PgClient.PgClient, sql).pipe(
    Context.add(SqlClient.SqlClient, sql),
    Context.add(Availability, { isAway: false })
  )
  const layer = Heartbeat.layer({ name }).pipe(Layer.provide(Layer.succeedContext(services)))
  const heartbeat = yield* Effect.map(Layer.build(Layer.fresh(layer)), Context.get(Heartbeat))
  return { ...heartbeat, availability: Context.get(services, Availability) }
})

const until = <E>(holds: Effect.Effect<boolean, E>) =>
  Effect.repeat(holds, { until: (found) => found, schedule: Schedule.spaced("20 millis") })

/** A database, a proxy that can fall silent, and a connection that reads its content. */
const aDatabase = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const sql = yield* connect(url, 2)
  const names = Effect.map(sql<{ name: string }>`select name from nodes order by name`, (rows) =>
    rows.map(({ name }) => name)
  )
  const heard = Effect.provideService(Nodes.heard, SqlClient.SqlClient, sql)
  const endSessions = sql`
    select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
  return { url, sql, names, heard, endSessions, proxy: yield* databaseProxy(url) }
})

describe("The heartbeat of a process", () => {
  it.live("is received while the process lives, and leaves no row behind", () =>
    Effect.gen(function* () {
      const { url, names, heard } = yield* aDatabase
      const scope = yield* Scope.make()
      const { problem } = yield* Scope.provide(aProcess(url, "one"), scope)
      assert.isUndefined(problem())
      const [first] = yield* heard
      assert.deepInclude(first, { name: "one", address: null, shards: null, release })
      yield* until(Effect.map(heard, ([now]) => now!.heardAt > first!.heardAt))
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* names, [])
    })
  )

  it.live("reports a database that takes no writes, which does not count as away", () =>
    Effect.gen(function* () {
      const { url, sql, endSessions } = yield* aDatabase
      const { problem, availability } = yield* aProcess(url, "one")
      const name = new URL(url).pathname.slice(1)
      yield* sql`alter database ${sql(name)} set default_transaction_read_only = on`
      yield* Effect.ignore(endSessions)
      yield* until(
        Effect.sync(() => /^takes no writes: cannot execute .* in a read-only transaction$/.test(problem() ?? ""))
      )
      assert.isFalse(availability.isAway)
      yield* Effect.retry(sql`select 1`, Schedule.spaced("20 millis"))
      yield* sql.withTransaction(
        Effect.andThen(
          sql`set transaction read write`,
          sql`alter database ${sql(name)} set default_transaction_read_only = off`
        )
      )
      yield* Effect.ignore(endSessions)
      yield* until(Effect.sync(() => problem() === undefined))
    })
  )

  it.live("reports that the database is away only while it does not answer, and logs both changes once", () => {
    const events: Array<unknown> = []
    const noting = Logger.map(Logger.formatStructured, ({ annotations }) => void events.push(annotations["event"]))
    return Effect.gen(function* () {
      const { proxy } = yield* aDatabase
      const { problem, availability } = yield* aProcess(proxy.url, "one")
      proxy.isSilent = true
      yield* until(Effect.sync(() => problem() === "out of reach"))
      assert.isTrue(availability.isAway)
      assert.deepStrictEqual(events, ["database.lost"])
      proxy.isSilent = false
      yield* until(Effect.sync(() => problem() === undefined))
      assert.isFalse(availability.isAway)
      assert.deepStrictEqual(events, ["database.lost", "database.back"])
    }).pipe(Effect.provide(Logger.layer([noting])))
  })

  it.live("restores its row with its address after a removal, and removes rows that are long silent", () =>
    Effect.gen(function* () {
      const { url, sql, names, heard } = yield* aDatabase
      const { id, join } = yield* aProcess(url, "one")
      yield* join({ address: "10.0.0.1:34431", lockSeconds: 3 })
      for (const [name, seconds] of [
        ["dead", 120],
        ["silent", 30]
      ] as const) {
        yield* sql`
          insert into nodes (name, release, started_at, heard_at)
          values (${name}, ${JSON.stringify(release)}::jsonb, now(), now() - make_interval(secs => ${seconds}))`
      }
      yield* sql`delete from nodes where id = ${id}`
      yield* until(Effect.map(names, (found) => found.join(" ") === "one silent"))
      assert.deepStrictEqual(
        (yield* heard).map(({ name, address }) => [name, address]),
        [["one", "10.0.0.1:34431"]]
      )
    })
  )

  it.live("reports that a newer release has finished its upgrade, and does not restore its row there", () =>
    Effect.gen(function* () {
      const { url, sql, names } = yield* aDatabase
      const { id, problem } = yield* aProcess(url, "one")
      yield* sql`insert into usher_migrations (migration_id, name) values (${latest + 1}, 'from_the_future')`
      yield* sql`update installation set schema_base = ${latest + 1}`
      yield* sql`delete from nodes where id = ${id}`
      yield* until(Effect.sync(() => problem()?.startsWith("schema needs a release that knows step") === true))
      assert.deepStrictEqual(yield* names, [])
      const refused = yield* Effect.flip(Effect.scoped(aProcess(url, "two")))
      assert.include((refused as Error).message, "a newer Usher has worked on it")
    })
  )
})

describe("A schema of an earlier step", () => {
  /** Migrates as a release with a step that only one release at a time can work with. */
  const migrate = (sql: SqlClient.SqlClient) =>
    Migrations.run.pipe(Effect.provideService(SqlClient.SqlClient, sql), Effect.provide(exclusiveRelease))

  for (const [what, address] of [
    ["a process without CLUSTER", undefined],
    ["a node", "10.0.0.1:34431"]
  ] as const) {
    it.live(`is not changed under ${what} that lives`, () =>
      Effect.gen(function* () {
        const { url, sql } = yield* aDatabase
        const { join } = yield* aProcess(url, "one")
        if (address !== undefined) yield* join({ address, lockSeconds: 3 })
        const { message } = yield* Effect.flip(migrate(sql))
        assert.include(message, `under processes that work with an earlier one`)
        assert.include(message, `End them first: one${address ? ` at ${address}` : ""}`)
      })
    )
  }

  it.live("is changed once a killed process has been silent for some seconds", () =>
    Effect.gen(function* () {
      const { sql } = yield* aDatabase
      yield* sql`
        insert into nodes (name, release, started_at, heard_at)
        values ('killed', ${JSON.stringify(release)}::jsonb, now(), now() - make_interval(secs => ${Nodes.silentSeconds - 1}))`
      assert.deepStrictEqual(yield* migrate(sql), [rewritten])
    })
  )
})
