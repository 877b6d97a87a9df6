/** Finds the tenant of a webhook, for operators' commands: they name a webhook by its id alone. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** A webhook that is not archived, and its tenant. */
export interface OwnedWebhook {
  readonly id: string
  readonly tenant: Tenant
}

/** Returns the webhook with this id, of any tenant; without an id all there are, at most two. */
export const ownedWebhooks = Effect.fnUntraced(function* (id: string | undefined) {
  const sql = yield* SqlClient.SqlClient
  const isNamed = id === undefined ? sql`true` : sql`id = ${id}`
  const rows = yield* sql<{ readonly id: string; readonly organization_id: string; readonly mode: Mode }>`
    select id, organization_id, mode from webhooks where not archived and ${isNamed} limit 2`
  return rows.map((row): OwnedWebhook => ({
    id: row.id,
    tenant: { organizationId: row.organization_id, mode: row.mode }
  }))
}, orUnavailable)
