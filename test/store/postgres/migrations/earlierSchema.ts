/** Databases of earlier schemas, to be filled with rows of that time and migrated by this version. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { readdirSync } from "node:fs"
import { Availability } from "../../../../src/store/coordination/Availability.ts"
import { withoutBounds } from "../../../../src/store/postgres/BoundedClient.ts"
import * as Migrations from "../../../../src/store/postgres/Migrations.ts"
import { connect } from "../../support/connections.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"

const folder = new URL("../../../../src/store/postgres/migrations/", import.meta.url)

type Step = Effect.Effect<void, unknown, SqlClient.SqlClient>

/** The steps up to this one, by name. */
const stepsUpTo = (step: number) =>
  Effect.forEach(
    readdirSync(folder)
      .map((file) => file.replace(/\.ts$/, ""))
      .filter((name) => Number.parseInt(name) <= step),
    (name) =>
      Effect.map(
        Effect.promise(() => import(new URL(`${name}.ts`, folder).href) as Promise<{ readonly default: Step }>),
        (module) => [name, module.default] as const
      )
  ).pipe(Effect.map((steps) => Object.fromEntries(steps)))

/** A database whose schema is at this step. */
export const databaseAt = Effect.fnUntraced(function* (step: number) {
  const { url } = yield* TestDatabase.emptyDatabase
  const sql = yield* connect(url, 4)
  const database = Layer.succeedContext(
    Context.make(PgClient.PgClient, sql).pipe(
      Context.add(SqlClient.SqlClient, sql),
      Context.add(Availability, { isAway: false })
    )
  )
  const loader = Migrator.fromRecord(yield* stepsUpTo(step))
  yield* withoutBounds(Migrator.make({})({ loader, table: "usher_migrations" })).pipe(Effect.provide(database))
  return {
    sql,
    database,
    /** Applies the later steps, as a start does. Returns their numbers. */
    migrate: Effect.provide(
      Effect.map(Migrations.run, (applied) => applied.map((name) => Number.parseInt(name))),
      database
    )
  }
})

/** An organization, as the rows of these tests name it. */
export const organizationId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

/** Makes an identifier. */
export const anyId = (last: number): string => `0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c${last}`

/** Adds the organization with these settings. */
export const addOrganization = (sql: PgClient.PgClient, settings: object = {}) =>
  sql`
    insert into organizations (id, name, plan, settings, created_at)
    values (${organizationId}, 'Brand', 'growth', ${sql.json(settings)}, now())`

/** Adds a consumer. */
export const addConsumer = (sql: PgClient.PgClient, id: string, row: object) =>
  sql`insert into consumers ${sql.insert({
    id,
    organization_id: organizationId,
    mode: "live",
    type: "authenticated",
    created_at: new Date(1_700_000_000_000 + Number(id.slice(-4))),
    ...row
  })}`
