/**
 * The upgrade of an installation from one release to the next. While processes of both run, the schema is only expanded,
 * and events of the former format version are written. The end of the upgrade contracts the schema and raises the version.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Release } from "../../domain/values/Release.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { CurrentRelease } from "../coordination/CurrentRelease.ts"
import * as Nodes from "../coordination/Nodes.ts"
import * as Migrations from "./Migrations.ts"
import * as SchemaState from "./SchemaState.ts"
import { CurrentSteps, numberOf } from "./Steps.ts"

/** Hours after the last process of a former release in which an operator can still go back to it. */
const finishAfterHours = 1

/** The state of an upgrade to the release of this process. */
export interface Status extends SchemaState.SchemaState {
  readonly release: Release
  /** True while the upgrade to this release is not finished. */
  readonly isPending: boolean
  /** The contract steps that run at its end. */
  readonly steps: ReadonlyArray<string>
  readonly processes: ReadonlyArray<Nodes.AliveProcess>
  /** The processes of former releases among them. */
  readonly former: ReadonlyArray<Nodes.AliveProcess>
}

/** Returns the state of the upgrade. Refuses a database that this release cannot use. */
export const status = Effect.gen(function* () {
  const release = yield* CurrentRelease
  const found = yield* SchemaState.read
  yield* SchemaState.refuseUnusable(found, release)
  const { step, base, formatVersion } = found!
  const steps = Object.keys(yield* CurrentSteps).filter((name) => numberOf(name) > step)
  const processes = yield* Nodes.heard
  const isPending = formatVersion < release.level[1] || steps.length > 0
  const former = processes.filter(({ release: other }) => isFormer(other, release))
  return { release, step, base, formatVersion, isPending, steps, processes, former } satisfies Status
})

const isFormer = (other: Release, own: Release): boolean =>
  other.schema[1] < own.schema[1] || other.level[1] < own.level[1] || other.protocol[1] < own.protocol[1]

/** Finishes the upgrade to the release of this process. Returns the steps that it applied. Refuses while a former release runs. */
export const finish = Migrations.finish(
  Effect.gen(function* () {
    const { former } = yield* status.pipe(Effect.catchTag("SqlError", Effect.die))
    if (former.length === 0) return
    const names = former.map(
      ({ name, address, release }) => `${name}${address === null ? "" : ` at ${address}`} (${release.version})`
    )
    return yield* new StartRefused({
      message: `The upgrade cannot be finished while processes of a former release serve from this database: ${names.join(", ")}. End them first.`
    })
  })
)

/**
 * Finishes a pending upgrade an hour after the last process of a former release was seen. Called once a minute. Returns
 * true if it has finished one.
 */
export const finishWhenDue = Effect.gen(function* () {
  const { isPending, former } = yield* status
  if (!isPending) return false
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly isDue: boolean }>`
    select coalesce(former_at < now() - make_interval(hours => ${finishAfterHours}), false) as "isDue" from installation`
  if (former.length > 0) yield* sql`update installation set former_at = now()`
  else if (found!.isDue) return yield* Effect.as(finish, true)
  else yield* sql`update installation set former_at = now() where former_at is null`
  return false
})
