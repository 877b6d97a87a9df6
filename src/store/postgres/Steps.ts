/**
 * The steps of the schema, in order. A released step is never edited: a change is a new step.
 *
 * Steps up to 36 run while no process serves. Each later step is declared:
 *
 * - `expand`: it runs next to processes of the former release. It adds tables, columns without a rewrite, and indexes of
 *   small tables. A large table's index belongs to `indexes`.
 * - `contract`: it removes what only former releases use. It runs at `usher upgrade finish`. In the list of one release
 *   such steps come last.
 */
import { Context, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { ConcurrentIndex } from "./ConcurrentIndexes.ts"
import { indexes as messageIndexes } from "./migrations/0037_messages.ts"
import { indexes as textIndexes } from "./migrations/0040_text.ts"

/** The statements of a step, and when it may run. */
export interface Step {
  readonly kind: "base" | "expand" | "contract"
  readonly run: Effect.Effect<void, unknown, SqlClient.SqlClient>
  /** Indexes of large tables, for an expand step. They are built after it. */
  readonly indexes?: ReadonlyArray<ConcurrentIndex>
}

export type Steps = { readonly [name: string]: Step }

/** The last step that no process may run next to. */
export const lastBase = 36

/** Loads the file of a step when it runs. Most starts run none. */
type Load = () => Promise<{ readonly default: Step["run"] }>

const runOf = (load: Load): Step["run"] => Effect.flatMap(Effect.promise(load), ({ default: run }) => run)

const base = (load: Load): Step => ({ kind: "base", run: runOf(load) })

const expand = (load: Load, indexes: Step["indexes"] = []): Step => ({ kind: "expand", run: runOf(load), indexes })

const contract = (load: Load): Step => ({ kind: "contract", run: runOf(load) })

/** The steps that this release knows. */
const steps: Steps = {
  "0001_foundation": base(() => import("./migrations/0001_foundation.ts")),
  "0002_sessions": base(() => import("./migrations/0002_sessions.ts")),
  "0003_audiences": base(() => import("./migrations/0003_audiences.ts")),
  "0004_search": base(() => import("./migrations/0004_search.ts")),
  "0005_catalogue": base(() => import("./migrations/0005_catalogue.ts")),
  "0006_experiencePages": base(() => import("./migrations/0006_experiencePages.ts")),
  "0007_consumers": base(() => import("./migrations/0007_consumers.ts")),
  "0008_orders": base(() => import("./migrations/0008_orders.ts")),
  "0009_idempotency": base(() => import("./migrations/0009_idempotency.ts")),
  "0010_analytics": base(() => import("./migrations/0010_analytics.ts")),
  "0011_experienceAccess": base(() => import("./migrations/0011_experienceAccess.ts")),
  "0012_assignedProducts": base(() => import("./migrations/0012_assignedProducts.ts")),
  "0013_nodes": base(() => import("./migrations/0013_nodes.ts")),
  "0014_lists": base(() => import("./migrations/0014_lists.ts")),
  "0015_searchByTenant": base(() => import("./migrations/0015_searchByTenant.ts")),
  "0016_sessionRefresh": base(() => import("./migrations/0016_sessionRefresh.ts")),
  "0017_grantMessages": base(() => import("./migrations/0017_grantMessages.ts")),
  "0018_salesAndPages": base(() => import("./migrations/0018_salesAndPages.ts")),
  "0019_experienceWindows": base(() => import("./migrations/0019_experienceWindows.ts")),
  "0020_bookings": base(() => import("./migrations/0020_bookings.ts")),
  "0021_archivedLists": base(() => import("./migrations/0021_archivedLists.ts")),
  "0022_processes": base(() => import("./migrations/0022_processes.ts")),
  "0023_redemptions": base(() => import("./migrations/0023_redemptions.ts")),
  "0024_sealedSecrets": base(() => import("./migrations/0024_sealedSecrets.ts")),
  "0025_accounts": base(() => import("./migrations/0025_accounts.ts")),
  "0026_challenges": base(() => import("./migrations/0026_challenges.ts")),
  "0027_mailboxes": base(() => import("./migrations/0027_mailboxes.ts")),
  "0028_webhooks": base(() => import("./migrations/0028_webhooks.ts")),
  "0029_tenantEvents": base(() => import("./migrations/0029_tenantEvents.ts")),
  "0030_receivers": base(() => import("./migrations/0030_receivers.ts")),
  "0031_challengeSecrets": base(() => import("./migrations/0031_challengeSecrets.ts")),
  "0032_installation": base(() => import("./migrations/0032_installation.ts")),
  "0033_erasures": base(() => import("./migrations/0033_erasures.ts")),
  "0034_operatorSessions": base(() => import("./migrations/0034_operatorSessions.ts")),
  "0035_people": base(() => import("./migrations/0035_people.ts")),
  "0036_releases": base(() => import("./migrations/0036_releases.ts")),
  "0037_messages": expand(() => import("./migrations/0037_messages.ts"), messageIndexes),
  "0038_archives": expand(() => import("./migrations/0038_archives.ts")),
  "0039_grantNames": expand(() => import("./migrations/0039_grantNames.ts")),
  "0040_text": expand(() => import("./migrations/0040_text.ts"), textIndexes),
  "0041_repeatedAnswers": expand(() => import("./migrations/0041_repeatedAnswers.ts")),
  "0042_codeDigits": expand(() => import("./migrations/0042_codeDigits.ts")),
  "0043_textContracted": contract(() => import("./migrations/0043_textContracted.ts"))
}

/** The steps that this process knows. Only tests know others. */
export const CurrentSteps = Context.Reference<Steps>("usher/store/postgres/Steps", { defaultValue: () => steps })

export const numberOf = (name: string): number => Number.parseInt(name)

/** The number of the last step that this release knows. */
export const latest = Math.max(...Object.keys(steps).map(numberOf))
