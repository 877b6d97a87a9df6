/**
 * A fresh, migrated Postgres database for one block of tests, dropped when the block ends.
 *
 * The server is the one `DATABASE_URL` names, or the local default; where none answers, `serverAnswers` is false and
 * suites say that they are skipped:
 *
 *     describe.skipIf(!TestDatabase.serverAnswers)(TestDatabase.title("…"), () => { layer(TestDatabase.layer, { excludeTestServices: true })(…) })
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as Migrations from "../../src/store/Migrations.ts"

/** The server that tests use; its database is only used to create and drop others. */
export const serverUrl = process.env.DATABASE_URL ?? "postgres://root@127.0.0.1:5432/postgres"

const connect = (url: string, maxConnections: number) =>
  PgClient.make({
    url: Redacted.make(url),
    maxConnections,
    connectTimeout: "3 seconds",
    applicationName: "usher-test"
  }).pipe(Effect.provide(Reactivity.layer))

const onServer = <A, E>(use: (sql: PgClient.PgClient) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(connect(serverUrl, 1), use))

/** True if the Postgres server for tests answers. */
export const serverAnswers: boolean = await Effect.runPromise(
  onServer((sql) => sql`select 1`).pipe(
    Effect.as(true),
    Effect.catchCause(() => Effect.succeed(false))
  )
)

/** A suite's name, which says why it is skipped where no server answers. */
export const title = (name: string): string =>
  serverAnswers ? name : `${name} [skipped: no Postgres at ${serverUrl}; set DATABASE_URL]`

/** The database's address, for what connects by itself (another client, a child process). */
export class TestDatabase extends Context.Service<TestDatabase, { readonly url: string }>()(
  "usher/test/store/TestDatabase"
) {}

/** Creates an empty database with a random name; drops it, open connections and all, when the scope closes. */
export const emptyDatabase = Effect.acquireRelease(
  Effect.suspend(() => {
    const name = `usher_test_${randomBytes(6).toString("hex")}`
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    return onServer((sql) => sql`create database ${sql(name)}`).pipe(Effect.as({ name, url: url.href }))
  }),
  ({ name }) => Effect.orDie(onServer((sql) => sql`drop database if exists ${sql(name)} with (force)`))
)

/** `PgClient` and `SqlClient` on a fresh, migrated database, and its address as `TestDatabase`. */
export const layer: Layer.Layer<PgClient.PgClient | SqlClient.SqlClient | TestDatabase> = Layer.effectContext(
  Effect.gen(function* () {
    const { url } = yield* emptyDatabase
    const client = yield* connect(url, 10)
    const services = Context.make(PgClient.PgClient, client).pipe(
      Context.add(SqlClient.SqlClient, client),
      Context.add(TestDatabase, { url })
    )
    yield* Effect.provide(Migrations.run, services)
    return services
  })
).pipe(Layer.orDie)
