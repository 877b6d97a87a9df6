import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Migrations from "../../../src/store/postgres/Migrations.ts"
import { release } from "../../../src/domain/values/Release.ts"
import { latest } from "../../../src/store/postgres/Steps.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** A separate client on an empty database, as another process would have. */
const client = (url: string) => PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by tablename`
  return rows.map(({ name }) => name)
})

describe("Migrations", () => {
  it.live("bring an empty database up to date, and do nothing the second time", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      yield* Effect.gen(function* () {
        const applied = yield* Migrations.run
        assert.strictEqual(applied[0], "0001_baseline")
        assert.strictEqual(Number.parseInt(applied.at(-1)!), latest)
        assert.includeMembers(yield* tables, ["organizations", "mechanisms", "journal", "places"])
        assert.deepStrictEqual(yield* Migrations.run, [])
      }).pipe(Effect.provide(client(url)))
    })
  )

  it.live("are applied once by processes that start at the same time", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      const processes = Array.from({ length: 6 }, () => Effect.provide(Migrations.run, client(url)))
      const applied = yield* Effect.all(processes, { concurrency: "unbounded" })
      const [first, ...others] = applied.toSorted((a, b) => b.length - a.length)
      assert.strictEqual(Number.parseInt(first!.at(-1)!), latest)
      assert.deepStrictEqual(others, [[], [], [], [], []])
    })
  )

  it.live("do not change a database whose upgrade a newer version has finished, and say so", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* Migrations.run
        const newer = latest + 1
        yield* sql`insert into usher_migrations (migration_id, name) values (${newer}, 'from_the_future')`
        yield* sql`update installation set schema_base = ${newer}`
        const { message } = yield* Effect.flip(Migrations.run)
        assert.include(message, `at steps ${newer} and level 1`)
        assert.include(message, `up to ${latest}`)
      }).pipe(Effect.provide(client(url)))
    })
  )

  it.live("are as many as this release says that it knows", () =>
    Effect.sync(() => assert.strictEqual(release.schema[1], latest))
  )

  it.live("that fail change nothing, and say why", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // Another program's table has the name of the first step's last table.
        yield* sql`create table places (somebody text)`
        const { message } = yield* Effect.flip(Migrations.run)
        assert.include(message, 'relation "places" already exists')
        assert.deepStrictEqual(yield* tables, ["places"])
      }).pipe(Effect.provide(client(url)))
    })
  )

  it.live("run before anything that uses the database", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.emptyDatabase
      const found = yield* Effect.provide(tables, Layer.provideMerge(Migrations.layer, client(url)))
      assert.include(found, "journal")
    })
  )
})
