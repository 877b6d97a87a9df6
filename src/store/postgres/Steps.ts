/**
 * The steps of the schema, in order. A released step is never edited: a change is a new step.
 *
 * The first step is the schema of the first release. Each step is declared:
 *
 * - `exclusive`: it runs while no process serves.
 * - `expand`: it runs next to processes of the former release. It adds tables, columns without a rewrite, and indexes of
 *   small tables. A large table's index belongs to `indexes`.
 * - `contract`: it removes what only former releases use. It runs at `usher upgrade finish`. In the list of one release
 *   such steps come last.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { ConcurrentIndex } from "./ConcurrentIndexes.ts"

/** The statements of a step, and when it may run. */
export interface Step {
  readonly kind: "exclusive" | "expand" | "contract"
  readonly run: Effect.Effect<void, unknown, SqlClient.SqlClient>
  /** Indexes of large tables, for an expand step. They are built after it. */
  readonly indexes?: ReadonlyArray<ConcurrentIndex>
}

export type Steps = { readonly [name: string]: Step }

/** Loads the file of a step when it runs. Most starts run none. */
type Load = () => Promise<{ readonly default: Step["run"] }>

const runOf = (load: Load): Step["run"] => Effect.flatMap(Effect.promise(load), ({ default: run }) => run)

/** The steps that this release knows. A later one is `{ kind: "expand", run: runOf(…), indexes }`, for example. */
const steps: Steps = {
  "0001_baseline": { kind: "exclusive", run: runOf(() => import("./migrations/0001_baseline.ts")) }
}

/** The steps that this process knows. Only tests know others. */
export const CurrentSteps = Context.Reference<Steps>("usher/store/postgres/Steps", { defaultValue: () => steps })

export const numberOf = (name: string): number => Number.parseInt(name)

/** The number of the last step that this release knows. */
export const latest = Math.max(...Object.keys(steps).map(numberOf))
