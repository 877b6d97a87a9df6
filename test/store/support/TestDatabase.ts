/**
 * A fresh, migrated Postgres database for one block of tests, dropped when the block ends:
 *
 *     layer(TestDatabase.layer, { excludeTestServices: true })("…", (it) => { … })
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Availability } from "../../../src/store/coordination/Availability.ts"
import { connect, databaseUrl, onDatabase } from "./connections.ts"
import * as TestServer from "./TestServer.ts"

const { url: serverUrl, template, copying } = TestServer.current

/** The database's address, for tests that connect themselves (another client, a child process). */
export class TestDatabase extends Context.Service<TestDatabase, { readonly url: string }>()(
  "usher/test/store/TestDatabase"
) {}

/** Creates a database with a random name. Drops it with its open connections when the scope closes. */
const database = (template: string) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const name = `usher_test_${randomBytes(6).toString("hex")}`
      return onDatabase(
        serverUrl,
        (sql) => sql`create database ${sql(name)} template ${sql(template)} ${sql.literal(copying)}`
      ).pipe(Effect.as({ name, url: databaseUrl(serverUrl, name) }))
    }),
    ({ name }) => Effect.orDie(onDatabase(serverUrl, (sql) => sql`drop database if exists ${sql(name)} with (force)`))
  )

/** An empty database. */
export const emptyDatabase = database("template1")

/** A database with this version's tables and no rows. */
export const migratedDatabase =
  template === undefined ? Effect.tap(emptyDatabase, ({ url }) => TestServer.migrate(url)) : database(template)

/** `PgClient` and `SqlClient` on a fresh, migrated database that is not away, and its address as `TestDatabase`. */
export const layer: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient | Availability | TestDatabase> =
  Layer.effectContext(
    Effect.gen(function* () {
      const { url } = yield* migratedDatabase
      const client = yield* connect(url, 5)
      return Context.make(PgClient.PgClient, client).pipe(
        Context.add(SqlClient.SqlClient, client),
        Context.add(Availability, { isAway: false }),
        Context.add(TestDatabase, { url })
      )
    })
  ).pipe(Layer.orDie)
