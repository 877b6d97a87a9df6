/**
 * The schema's history. Each step is a numbered file. The database records the applied steps, so applying them again
 * does nothing. A released step is never edited: a change is a new step.
 *
 * All outstanding steps run in one transaction under an advisory lock. If several processes start at once, one
 * applies the steps and the others find them applied. A step that fails leaves the schema unchanged.
 */
import { Effect, Layer } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { StartRefused } from "../../settings/Settings.ts"
import { withoutBounds } from "./BoundedClient.ts"
import * as Nodes from "../coordination/Nodes.ts"
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
import sessionRefresh from "./migrations/0016_sessionRefresh.ts"
import grantMessages from "./migrations/0017_grantMessages.ts"
import salesAndPages from "./migrations/0018_salesAndPages.ts"
import experienceWindows from "./migrations/0019_experienceWindows.ts"
import bookings from "./migrations/0020_bookings.ts"
import archivedLists from "./migrations/0021_archivedLists.ts"
import processes from "./migrations/0022_processes.ts"
import redemptions from "./migrations/0023_redemptions.ts"
import sealedSecrets from "./migrations/0024_sealedSecrets.ts"
import accounts from "./migrations/0025_accounts.ts"
import challenges from "./migrations/0026_challenges.ts"
import mailboxes from "./migrations/0027_mailboxes.ts"
import webhooks from "./migrations/0028_webhooks.ts"

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
  "0015_searchByTenant": searchByTenant,
  "0016_sessionRefresh": sessionRefresh,
  "0017_grantMessages": grantMessages,
  "0018_salesAndPages": salesAndPages,
  "0019_experienceWindows": experienceWindows,
  "0020_bookings": bookings,
  "0021_archivedLists": archivedLists,
  "0022_processes": processes,
  "0023_redemptions": redemptions,
  "0024_sealedSecrets": sealedSecrets,
  "0025_accounts": accounts,
  "0026_challenges": challenges,
  "0027_mailboxes": mailboxes,
  "0028_webhooks": webhooks
}

/** The key of the advisory lock. Any fixed number works. */
const migrationLock = 0x75_73_68_65_73n

const table = "usher_migrations"

/** The number of the last step this build knows. */
export const latest = Math.max(...Object.keys(steps).map((name) => Number.parseInt(name)))

/** Time between two checks of whether a process is still alive. */
const checkMillis = 250

/** The step of the schema; undefined if there is no schema. */
const step = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [present] = yield* sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`
  if (present?.found !== true) return undefined
  const rows = yield* sql<{ id: number | null }>`select max(migration_id) as id from ${sql(table)}`
  return rows[0]?.id ?? 0
})

/**
 * Applies the outstanding steps. Returns the names of the steps it applied. Refuses a database that a newer Usher has
 * migrated.
 */
export const run = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* awaitDead
  const applied = yield* withoutBounds(
    Effect.gen(function* () {
      yield* sql`select pg_advisory_xact_lock(${migrationLock}::bigint)`
      yield* refuseUnsuitable
      return yield* Migrator.make({})({ loader: Migrator.fromRecord(steps), table })
    })
  )
  return applied.map(([id, name]) => `${`${id}`.padStart(4, "0")}_${name}`)
}).pipe(
  Effect.catchTags({
    SqlError: refused,
    MigrationError: refused,
    Unavailable: refused
  })
)

/** Applies the outstanding steps before anything that uses the database is built. */
export const layer = Layer.effectDiscard(
  Effect.tap(run, (applied) =>
    applied.length > 0 ? Effect.logInfo(`Database schema: applied ${applied.join(", ")}`) : Effect.void
  )
)

/** Refuses a schema that is not this version's, before anything that uses the database is built. */
export const layerRequired = Layer.effectDiscard(
  Effect.flatMap(step, (found) => (found === latest ? Effect.void : refuseStep(found))).pipe(
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(new StartRefused({ message: `The database's schema could not be read: ${reasonOf(error)}` }))
    )
  )
)

/** Runs the effect in a transaction that blocks migrations. Refuses a schema that is not this version's. */
export const whileCurrent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`select pg_advisory_xact_lock_shared(${migrationLock}::bigint)`
        const found = yield* step
        return yield* found === latest ? effect : refuseStep(found)
      })
    )
  )

/** Returns the problem of a schema at this step, in short; undefined if there is none. */
export const problemOf = (found: number): string | undefined =>
  found === latest ? undefined : `schema at step ${found} of ${latest}`

const refuseStep = (found: number | undefined) => {
  if (found === undefined) {
    return refuse(
      "The database has no tables of Usher's yet. Run `usher migrate`, or start `usher serve`, to make them."
    )
  }
  return refuse(
    found < latest
      ? `The database's schema is at step ${found}, and this version of Usher works with step ${latest}. End the servers of ` +
          "the former version, then run `usher migrate`, or start `usher serve`."
      : `The database's schema is at step ${found}, but this version of Usher knows steps up to ${latest}: a newer Usher has ` +
          "worked on it. Start that version or a later one, or name another database in DATABASE_URL or DATA_DIR."
  )
}

/**
 * Refuses a database that this program must not change: a newer one has migrated it, or processes of an older one use
 * it.
 */
const refuseUnsuitable = Effect.gen(function* () {
  const found = yield* step
  if (found === undefined || found === latest) return
  return yield* found > latest ? refuseStep(found) : refuseWhileInUse(yield* Nodes.heard)
})

/**
 * Waits until recently killed processes count as gone. A process that sends a heartbeat meanwhile is alive, and the
 * migration is refused. So a process that died can be replaced at once by one of another version.
 */
const awaitDead = Effect.gen(function* () {
  const found = yield* step
  if (found === undefined || found >= latest) return
  const first = new Map((yield* Nodes.heard).map(({ id, heardAt }) => [id, heardAt.getTime()]))
  for (;;) {
    const heard = yield* Nodes.heard
    if (heard.length === 0) return
    const living = heard.filter(({ id, heardAt }) => first.get(id) !== heardAt.getTime())
    if (living.length > 0) return yield* refuseWhileInUse(heard)
    yield* Effect.sleep(checkMillis)
  }
})

const refuseWhileInUse = (processes: ReadonlyArray<Nodes.AliveProcess>) =>
  processes.length === 0
    ? Effect.void
    : refuse(
        `This version of Usher would bring the database's schema to step ${latest}, under processes that work with an earlier ` +
          `one: ${processes.map(({ name, address }) => (address === null ? name : `${name} at ${address}`)).join(", ")}. End ` +
          "them first."
      )

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

/** Hoisted, because `run` is built while this module is still being evaluated. */
function refused(error: Error) {
  return refuse(`The database's schema could not be brought up to date, and is as it was: ${reasonOf(error)}`)
}

function reasonOf(error: Error): string {
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}
