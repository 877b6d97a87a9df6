/** The state of the schema in the database, and the releases that may use it. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Release, textOf } from "../../domain/values/Release.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { CurrentSteps, numberOf, type Steps } from "./Steps.ts"

/** The name of the first step, as the table has it. */
const firstStep = "baseline"

const unreleased =
  "The database was made by a development version of Usher from before the first release, and this version cannot read " +
  "it. Name another database in DATABASE_URL or DATA_DIR, or drop this one."

/** The table of the applied steps. */
export const table = "usher_migrations"

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

export interface SchemaState {
  /** The last applied step. */
  readonly step: number
  /** Programs that know at least this step may use the schema. */
  readonly base: number
  /** The format version of events and questions that the installation writes. */
  readonly formatVersion: number
}

/**
 * Reads the state; undefined if there is no schema. The first statement reads a table of the catalogue, so that a session
 * sees a schema made since its transaction began: `to_regclass` alone answers from the session's cache. Refuses a schema
 * from before the first release.
 */
export const read = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const present = yield* sql`select from pg_class where oid = to_regclass(${table})`
  if (present.length === 0) return undefined
  const [row] = yield* sql<{ readonly step: number; readonly first: string | null }>`
    select max(migration_id) as step, min(name) filter (where migration_id = 1) as first from ${sql(table)}`
  const { step, first } = row!
  if (first !== firstStep) return yield* refuse(unreleased)
  const [found] = yield* sql<Omit<SchemaState, "step">>`
    select schema_base as base, format_version as "formatVersion" from installation`
  return { step, ...found! }
})

/** The steps without which this process cannot work: all but the contract steps at the end. */
export const neededOf = (steps: Steps): ReadonlyArray<string> => {
  const names = Object.keys(steps)
  return names.slice(0, names.findLastIndex((name) => steps[name]!.kind !== "contract") + 1)
}

/** Returns the problem of a schema that a newer release has finished its upgrade of, in short; undefined if there is none. */
export const problemOf = ({ base, formatVersion }: Omit<SchemaState, "step">, release: Release): string | undefined => {
  if (base > release.schema[1])
    return `schema needs a release that knows step ${base}, and this one knows ${release.schema[1]}`
  if (formatVersion > release.level[1])
    return `installation is at level ${formatVersion}, and this release knows ${release.level[1]}`
  return undefined
}

/** Refuses a schema that this process cannot work with. */
export const refuseUnusable = Effect.fnUntraced(function* (found: SchemaState | undefined, release: Release) {
  if (found === undefined) {
    return yield* refuse(
      "The database has no tables of Usher's yet. Run `usher migrate`, or start `usher serve`, to make them."
    )
  }
  const needed = numberOf(neededOf(yield* CurrentSteps).at(-1)!)
  if (found.step < needed) {
    return yield* refuse(
      `The database's schema is at step ${found.step}, and this version of Usher works with step ${needed}. To ` +
        "bring it up to date, run `usher migrate`, or start `usher serve`."
    )
  }
  yield* refuseNewer(found, release)
})

/** Refuses a database for which a newer release has finished its upgrade. */
export const refuseNewer = ({ step, base, formatVersion }: SchemaState, release: Release) =>
  problemOf({ base, formatVersion }, release) === undefined
    ? Effect.void
    : refuse(
        `The database's schema is at steps ${textOf([base, step])} and level ${formatVersion}, but this version of Usher ` +
          `(${release.version}) knows steps up to ${release.schema[1]} and levels ${textOf(release.level)}: a newer Usher has ` +
          "worked on it, and its upgrade is finished. Start that version or a later one, or name another database in DATABASE_URL or " +
          "DATA_DIR."
      )
