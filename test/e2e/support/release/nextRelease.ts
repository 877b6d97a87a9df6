/**
 * The releases after this one, as far as upgrades are concerned. One is upgraded to node by node: it reads and later writes
 * one more level, knows one more protocol, and has two more steps of the schema. One expands, the other contracts. The
 * other release has a step that runs while no process serves.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { release, type Release } from "../../../../src/domain/values/Release.ts"
import { CurrentRelease } from "../../../../src/store/coordination/CurrentRelease.ts"
import { CurrentSteps, latest, type Steps } from "../../../../src/store/postgres/Steps.ts"

/** The names of its steps. */
export const expanded = stepNamed(latest + 1, "expanded")
export const contracted = stepNamed(latest + 2, "contracted")

/** The name of the step of {@link exclusiveRelease}. */
export const rewritten = stepNamed(latest + 1, "rewritten")

function stepNamed(number: number, name: string): string {
  return `${`${number}`.padStart(4, "0")}_${name}`
}

const next = ([, max]: readonly [number, number], by = 1) => [max, max + by] as const

const declaration: Release = {
  version: "1.1.0",
  protocol: next(release.protocol),
  level: next(release.level),
  schema: next(release.schema, 2)
}

/** Writes the new column of the next consumers. */
const fill = (after: string | null): string => `
  with batch as (
    select id from consumers where ${after === null ? "true" : `id > '${after}'`} order by id limit 1000
  ), filled as (
    update consumers c set next_release = 1 from batch b where c.id = b.id
  )
  select id::text as last from batch order by id desc limit 1`

export const nextSteps: Steps = {
  ...CurrentSteps.defaultValue(),
  [expanded]: {
    kind: "expand",
    indexes: [
      { name: "places_next_release", definition: "on places (next_release)" },
      { name: "consumers_next_release", definition: "on consumers (next_release)", fill }
    ],
    run: Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.all(
        [
          sql`alter table places add column next_release int4`,
          sql`alter table consumers add column next_release int4`,
          sql`create table next_release (id int4 primary key)`
        ],
        { discard: true }
      )
    )
  },
  [contracted]: {
    kind: "contract",
    run: Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.asVoid(sql`drop table next_release`))
  }
}

/** Makes a program run as the next release. */
export const nextRelease = Layer.mergeAll(
  Layer.succeed(CurrentRelease, declaration),
  Layer.succeed(CurrentSteps, nextSteps)
)

/** Makes a program run as a release with a step that runs while no process serves. */
export const exclusiveRelease = Layer.mergeAll(
  Layer.succeed(CurrentRelease, { ...release, version: "1.1.0", schema: [latest + 1, latest + 1] }),
  Layer.succeed(CurrentSteps, {
    ...CurrentSteps.defaultValue(),
    [rewritten]: {
      kind: "exclusive",
      run: Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.asVoid(sql`alter table places alter column status type varchar`)
      )
    }
  })
)
