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
import { Context, type Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { ConcurrentIndex } from "./ConcurrentIndexes.ts"
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
import tenantEvents from "./migrations/0029_tenantEvents.ts"
import receivers from "./migrations/0030_receivers.ts"
import challengeSecrets from "./migrations/0031_challengeSecrets.ts"
import installation from "./migrations/0032_installation.ts"
import erasures from "./migrations/0033_erasures.ts"
import operatorSessions from "./migrations/0034_operatorSessions.ts"
import people from "./migrations/0035_people.ts"
import releases from "./migrations/0036_releases.ts"
import messages, { indexes as messageIndexes } from "./migrations/0037_messages.ts"
import archives from "./migrations/0038_archives.ts"

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

const base = (run: Step["run"]): Step => ({ kind: "base", run })

const expand = (run: Step["run"]): Step => ({ kind: "expand", run })

/** The steps that this release knows. */
const steps: Steps = {
  "0001_foundation": base(foundation),
  "0002_sessions": base(sessions),
  "0003_audiences": base(audiences),
  "0004_search": base(search),
  "0005_catalogue": base(catalogue),
  "0006_experiencePages": base(experiencePages),
  "0007_consumers": base(consumers),
  "0008_orders": base(orders),
  "0009_idempotency": base(idempotency),
  "0010_analytics": base(analytics),
  "0011_experienceAccess": base(experienceAccess),
  "0012_assignedProducts": base(assignedProducts),
  "0013_nodes": base(nodes),
  "0014_lists": base(lists),
  "0015_searchByTenant": base(searchByTenant),
  "0016_sessionRefresh": base(sessionRefresh),
  "0017_grantMessages": base(grantMessages),
  "0018_salesAndPages": base(salesAndPages),
  "0019_experienceWindows": base(experienceWindows),
  "0020_bookings": base(bookings),
  "0021_archivedLists": base(archivedLists),
  "0022_processes": base(processes),
  "0023_redemptions": base(redemptions),
  "0024_sealedSecrets": base(sealedSecrets),
  "0025_accounts": base(accounts),
  "0026_challenges": base(challenges),
  "0027_mailboxes": base(mailboxes),
  "0028_webhooks": base(webhooks),
  "0029_tenantEvents": base(tenantEvents),
  "0030_receivers": base(receivers),
  "0031_challengeSecrets": base(challengeSecrets),
  "0032_installation": base(installation),
  "0033_erasures": base(erasures),
  "0034_operatorSessions": base(operatorSessions),
  "0035_people": base(people),
  "0036_releases": base(releases),
  "0037_messages": { kind: "expand", run: messages, indexes: messageIndexes },
  "0038_archives": expand(archives)
}

/** The steps that this process knows. Only tests know others. */
export const CurrentSteps = Context.Reference<Steps>("usher/store/postgres/Steps", { defaultValue: () => steps })

/** Returns the number of a step. */
export const numberOf = (name: string): number => Number.parseInt(name)

/** The number of the last step that this release knows. */
export const latest = Math.max(...Object.keys(steps).map(numberOf))
