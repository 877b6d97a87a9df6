/**
 * The Postgres server of the tests: the one that `DATABASE_URL` names, else the embedded server, started for this run
 * alone. It holds one migrated database, the template that suites copy.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import * as Migrations from "../../../src/store/postgres/Migrations.ts"
import { OwnPostgres } from "../../e2e/support/OwnPostgres.ts"
import { databaseUrl, onDatabase } from "./connections.ts"

const defaultUrl = "postgres://root@127.0.0.1:5432/postgres"

/** The environment variables in which a worker process finds the server and the template. */
const serverVariable = "USHER_TEST_SERVER"
const templateVariable = "USHER_TEST_TEMPLATE"
const copyingVariable = "USHER_TEST_COPYING"

/** The server's life ends with the test run, so nothing needs to survive a crash. Tests of durability start others. */
const withoutDurability = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }

export interface TestServer {
  /** The server, with a database that is only used to create and drop others. */
  readonly url: string
  /** The name of a database with this version's tables and no rows; undefined outside a test run. */
  readonly template: string | undefined
  /**
   * The clause of `create database` that copies the template's files. Without it Postgres 15 and newer write every
   * copied page to the log, which costs several times the processor time.
   */
  readonly copying: string
}

/** The server of this test run. Outside a test run: the one that `DATABASE_URL` names, or the default. */
export const current: TestServer = {
  url: process.env[serverVariable] ?? (process.env["DATABASE_URL"] || defaultUrl),
  template: process.env[templateVariable],
  copying: process.env[copyingVariable] ?? ""
}

/** Migrates a database to this version's tables. */
export const migrate = (url: string) =>
  onDatabase(url, (sql) => {
    const services = Context.make(PgClient.PgClient, sql).pipe(Context.add(SqlClient.SqlClient, sql))
    return Effect.provide(Migrations.run, services)
  })

/** Returns why the server does not answer, or undefined if it does. */
export const refusal = (url: string): Promise<string | undefined> =>
  Effect.runPromise(
    onDatabase(url, (sql) => sql`select 1`).pipe(
      Effect.as(undefined),
      Effect.catchCause((cause) => Effect.succeed(String(cause)))
    )
  )

/** Finds or starts the server and makes the template. Returns a function that removes what was made. */
export async function start(): Promise<() => Promise<void>> {
  const named = process.env["DATABASE_URL"] || undefined
  const problem = named === undefined ? undefined : await refusal(named)
  if (problem !== undefined) {
    throw new Error(`The server in DATABASE_URL does not answer: ${problem}. Start it, or unset DATABASE_URL.`)
  }
  const own = named === undefined ? await OwnPostgres.make(withoutDurability) : undefined
  const serverUrl = named ?? own!.url
  const template = `usher_test_template_${randomBytes(6).toString("hex")}`
  await Effect.runPromise(makeTemplate(serverUrl, template))
  process.env[serverVariable] = serverUrl
  process.env[templateVariable] = template
  process.env[copyingVariable] = await Effect.runPromise(copyingOf(serverUrl))
  return async () => {
    if (own !== undefined) return own[Symbol.asyncDispose]()
    await Effect.runPromise(onDatabase(serverUrl, (sql) => sql`drop database ${sql(template)} with (force)`))
  }
}

/** Returns the clause; Postgres 14 knows none, and copies files. */
const copyingOf = (serverUrl: string) =>
  onDatabase(
    serverUrl,
    (sql) => sql<{ readonly isKnown: boolean }>`
      select current_setting('server_version_num')::int >= 150000 as "isKnown"`
  ).pipe(Effect.map(([row]) => (row!.isKnown ? "strategy file_copy" : "")))

const makeTemplate = (serverUrl: string, name: string) =>
  Effect.andThen(
    onDatabase(serverUrl, (sql) => sql`create database ${sql(name)}`),
    migrate(databaseUrl(serverUrl, name))
  )
