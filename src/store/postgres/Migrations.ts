/**
 * Brings the schema up to date (`Steps.ts`). The database records the applied steps, so applying them again does nothing.
 *
 * All outstanding steps run in one transaction under an advisory lock. If several processes start at once, one
 * applies the steps and the others find them applied. A step that fails leaves the schema unchanged.
 *
 * Steps run next to processes of the former release. They give up a lock that they do not get within two seconds, so that
 * no statement of those processes waits for long behind them, and try again.
 */
import { Effect, Layer, Schedule } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { conflictOf } from "../../domain/values/Release.ts"
import { StartRefused } from "../../settings/Settings.ts"
import * as ConcurrentIndexes from "./ConcurrentIndexes.ts"
import { isTransient, withoutBounds } from "./BoundedClient.ts"
import { CurrentRelease } from "../coordination/CurrentRelease.ts"
import * as Nodes from "../coordination/Nodes.ts"
import * as SchemaState from "./SchemaState.ts"
import type { Unavailable } from "./Unavailable.ts"
import { CurrentSteps, numberOf, type Steps } from "./Steps.ts"

/** The key of the advisory lock. Any fixed number works. */
const migrationLock = 0x75_73_68_65_73n

/** Time between two checks of whether a process is still alive. */
const checkMillis = 250

/** How often a step that did not get a lock is tried, once a second. */
const lockAttemptsMax = 60

/** Waits until no other process migrates, and keeps others from it until the caller's transaction ends. */
export const lock = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.asVoid(sql`select pg_advisory_xact_lock(${migrationLock}::bigint)`)
)

/** Applies the outstanding ones of these steps, in the caller's transaction, which has the {@link lock}. */
const apply = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const steps: Steps = yield* CurrentSteps
  const after = (yield* SchemaState.read)?.step ?? 0
  if (names.every((name) => numberOf(name) <= after)) return []
  const loader = Migrator.fromRecord(Object.fromEntries(names.map((name) => [name, steps[name]!.run])))
  const applied = yield* Migrator.make({})({ loader, table: SchemaState.table })
  const last = names.findLast((name) => steps[name]!.kind !== "expand" && numberOf(name) > after)
  if (last !== undefined) yield* sql`update installation set schema_base = ${numberOf(last)}`
  return applied.map(([id, name]) => `${`${id}`.padStart(4, "0")}_${name}`)
})

/** Applies all outstanding steps, and writes the highest format version from then on. */
const applyAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [, versionMax] = (yield* CurrentRelease).level
  const applied = yield* apply(Object.keys(yield* CurrentSteps))
  yield* sql`update installation set format_version = ${versionMax}, former_at = null`
  return applied
})

/** Applies the outstanding steps up to this one, in the caller's transaction, which has the {@link lock}. */
export const applyUpTo = (step: number) =>
  Effect.flatMap(CurrentSteps, (steps) => apply(Object.keys(steps).filter((name) => numberOf(name) <= step)))

/** Builds the missing indexes of large tables. Not in a transaction. */
export const buildIndexes = Effect.flatMap(CurrentSteps, (steps) =>
  ConcurrentIndexes.build(SchemaState.neededOf(steps).flatMap((name) => steps[name]!.indexes ?? []))
)

/** Runs a change of the schema in a transaction of its own, as its only one. Tries again if it does not get a lock. */
const changing = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  withoutBounds(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* lock
      yield* sql`set local lock_timeout = '2s'`
      return yield* change
    })
  ).pipe(Effect.retry({ while: isLockTimeout, schedule: Schedule.spaced("1 second"), times: lockAttemptsMax }))

/**
 * Applies the outstanding steps that may run now. Returns their names. Refuses a database whose upgrade a newer release has
 * finished, and one whose processes are of releases that this one does not work with.
 */
export const run = Effect.gen(function* () {
  yield* awaitDead
  const applied = yield* changing(
    Effect.gen(function* () {
      const steps = yield* CurrentSteps
      const release = yield* CurrentRelease
      const found = yield* SchemaState.read
      if (found === undefined) return yield* applyAll
      yield* SchemaState.refuseNewer(found, release)
      yield* refuseConflicting(yield* conflictingProcesses)
      const applied = yield* apply(SchemaState.neededOf(steps))
      const sql = yield* SqlClient.SqlClient
      const [versionMin] = release.level
      if (found.formatVersion < versionMin) yield* sql`update installation set format_version = ${versionMin}`
      return applied
    })
  )
  yield* buildIndexes
  return applied
}).pipe(
  Effect.catchTags({
    SqlError: refused,
    MigrationError: refused,
    Unavailable: refused
  })
)

/**
 * Finishes the upgrade to this release: applies the contract steps, and writes its highest format version from now on. Former
 * releases can no longer start. Refuses while processes of one live. `permitted` may refuse too.
 */
export const finish = <R>(permitted: Effect.Effect<void, StartRefused | Unavailable, R>) =>
  changing(
    Effect.gen(function* () {
      yield* permitted
      return yield* applyAll
    })
  ).pipe(Effect.catchTags({ SqlError: refused, MigrationError: refused, Unavailable: refused }))

/** Applies the outstanding steps before anything that uses the database is built. */
export const layer = Layer.effectDiscard(
  Effect.tap(run, (applied) =>
    applied.length > 0 ? Effect.logInfo(`Database schema: applied ${applied.join(", ")}`) : Effect.void
  )
)

/** Refuses a schema that this release cannot use, before anything that uses the database is built. */
export const layerRequired = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* SchemaState.refuseUnusable(yield* SchemaState.read, yield* CurrentRelease)
  }).pipe(
    Effect.catchTag("SqlError", (error) =>
      Effect.fail(new StartRefused({ message: `The database's schema could not be read: ${reasonOf(error)}` }))
    )
  )
)

/** Runs the effect in a transaction that blocks migrations. Refuses a schema that this release cannot use. */
export const whileCurrent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`select pg_advisory_xact_lock_shared(${migrationLock}::bigint)`
        yield* SchemaState.refuseUnusable(yield* SchemaState.read, yield* CurrentRelease)
        return yield* effect
      })
    )
  )

/** A process next to which this one cannot work, and why. */
interface ConflictingProcess {
  readonly process: Nodes.AliveProcess
  readonly conflict: string
}

/** Returns the live processes next to which this one cannot work, or cannot apply its outstanding steps. */
const conflictingProcesses = Effect.gen(function* () {
  const release = yield* CurrentRelease
  const steps = yield* CurrentSteps
  const step = (yield* SchemaState.read)?.step ?? 0
  const outstanding = SchemaState.neededOf(steps).filter((name) => numberOf(name) > step)
  const last = outstanding.findLast((name) => steps[name]!.kind !== "expand")
  return (yield* Nodes.heard).flatMap((process): ReadonlyArray<ConflictingProcess> => {
    const conflict =
      last !== undefined && process.release.schema[1] < numberOf(last)
        ? `the schema must be brought to step ${numberOf(last)}, under processes that work with an earlier one`
        : conflictOf(release, process.release)
    return conflict === undefined ? [] : [{ process, conflict }]
  })
})

/**
 * Waits until recently killed processes count as gone. A process that sends a heartbeat meanwhile is alive, and the start
 * is refused. So a process that died can be replaced at once by one of another version.
 */
const awaitDead = Effect.gen(function* () {
  const first = new Map((yield* conflictingProcesses).map(({ process }) => [process.id, process.heardAt.getTime()]))
  for (;;) {
    const found = yield* conflictingProcesses
    if (found.length === 0) return
    if (found.some(({ process }) => first.get(process.id) !== process.heardAt.getTime())) {
      return yield* refuseConflicting(found)
    }
    yield* Effect.sleep(checkMillis)
  }
})

const refuseConflicting = (found: ReadonlyArray<ConflictingProcess>) => {
  const [first] = found
  if (first === undefined) return Effect.void
  const names = found.map(
    ({ process: { name, address, release } }) =>
      `${name}${address === null ? "" : ` at ${address}`} (${release.version})`
  )
  return Effect.flatMap(CurrentRelease, ({ version }) =>
    refuse(
      `This version of Usher (${version}) cannot work at the same time as processes that serve from this database: ` +
        `${first.conflict}. End them first: ${names.join(", ")}. Versions in between can be upgraded to one after the other.`
    )
  )
}

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

/** Hoisted, because `run` is built while this module is still being evaluated. */
function refused(error: SqlError | Migrator.MigrationError | Unavailable) {
  const message = `The database's schema could not be brought up to date, and is as it was: ${reasonOf(error)}`
  return Effect.fail(new StartRefused({ message, isTransient: isTransient(error) }))
}

function reasonOf(error: Error): string {
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}

/** True if a statement did not get a lock in time. */
function isLockTimeout(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false
  const { code, cause, reason } = error as {
    readonly code?: unknown
    readonly cause?: unknown
    readonly reason?: unknown
  }
  return code === "55P03" || isLockTimeout(cause) || isLockTimeout(reason)
}
