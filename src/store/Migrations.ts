/**
 * The schema's history. Each step is a numbered file; what has been applied is written down in the database, so that
 * applying again does nothing. A step that has been released is never edited: a change is a new step.
 *
 * All outstanding steps are one transaction under an advisory lock: of several processes that start at once one applies
 * them and the others find them applied, and a step that fails leaves the schema as it was.
 */
import { Effect, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { StartRefused } from "../Settings.ts"
import * as Nodes from "./Nodes.ts"
import foundation from "./migrations/0001_foundation.ts"
import sessions from "./migrations/0002_sessions.ts"
import audiences from "./migrations/0003_audiences.ts"
import search from "./migrations/0004_search.ts"
import catalogue from "./migrations/0005_catalogue.ts"
import experiencePages from "./migrations/0006_experiencePages.ts"
import consumers from "./migrations/0007_consumers.ts"
import orders from "./migrations/0008_orders.ts"
import idempotency from "./migrations/0009_idempotency.ts"
import analytics from "./migrations/0010_analytics.ts"
import experienceAccess from "./migrations/0011_experienceAccess.ts"
import assignedProducts from "./migrations/0012_assignedProducts.ts"
import nodes from "./migrations/0013_nodes.ts"
import lists from "./migrations/0014_lists.ts"
import searchByTenant from "./migrations/0015_searchByTenant.ts"

const steps = {
  "0001_foundation": foundation,
  "0002_sessions": sessions,
  "0003_audiences": audiences,
  "0004_search": search,
  "0005_catalogue": catalogue,
  "0006_experiencePages": experiencePages,
  "0007_consumers": consumers,
  "0008_orders": orders,
  "0009_idempotency": idempotency,
  "0010_analytics": analytics,
  "0011_experienceAccess": experienceAccess,
  "0012_assignedProducts": assignedProducts,
  "0013_nodes": nodes,
  "0014_lists": lists,
  "0015_searchByTenant": searchByTenant
}

/** Names the lock in the database. Any fixed number does. */
const migrationLock = 0x75_73_68_65_73n

const table = "usher_migrations"

/** The number of the last step this build knows. */
export const latest = Math.max(...Object.keys(steps).map((name) => Number.parseInt(name)))

/**
 * Applies what is outstanding; answers the names of the steps it applied. Refuses a database that a newer Usher has
 * already moved on.
 */
export const run = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const applied = yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`select pg_advisory_xact_lock(${migrationLock}::bigint)`
      yield* refuseUnfit(sql)
      return yield* Migrator.make({})({ loader: Migrator.fromRecord(steps), table })
    })
  )
  return applied.map(([id, name]) => `${`${id}`.padStart(4, "0")}_${name}`)
}).pipe(
  Effect.catchTags({
    SqlError: refused,
    MigrationError: refused
  })
)

/** Applies what is outstanding before anything that uses the database is built. */
export const layer = Layer.effectDiscard(
  Effect.tap(run, (applied) =>
    applied.length > 0 ? Effect.logInfo(`Database schema: applied ${applied.join(", ")}`) : Effect.void
  )
)

/** A database that is not this program's to change: moved on by a newer one, or just used by nodes of an older one. */
const refuseUnfit = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  const [present] = yield* sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`
  if (present?.found !== true) return
  const rows = yield* sql<{ id: number | null }>`select max(migration_id) as id from ${sql(table)}`
  const found = rows[0]?.id ?? 0
  if (found === latest) return
  if (found < latest) return yield* refuseBeside(yield* Nodes.alive)
  return yield* new StartRefused({
    message:
      `The database's schema is at step ${found}, but this version of Usher knows steps up to ${latest}: a newer Usher has ` +
      "worked on it. Start that version or a later one, or name another database in DATABASE_URL or DATA_DIR."
  })
})

const refuseBeside = (nodes: ReadonlyArray<Nodes.AliveNode>) =>
  nodes.length === 0
    ? Effect.void
    : Effect.fail(
        new StartRefused({
          message:
            `This version of Usher would bring the database's schema to step ${latest}, under nodes that work with an earlier ` +
            `one: ${nodes.map(({ name, address }) => `${name} at ${address}`).join(", ")}. End them first.`
        })
      )

/** Hoisted, because `run` is built while this module is still being read. */
function refused(error: Error) {
  let cause = error
  while (cause.cause instanceof Error) cause = cause.cause
  const message = `The database's schema could not be brought up to date, and is as it was: ${cause.message}`
  return Effect.fail(new StartRefused({ message }))
}
