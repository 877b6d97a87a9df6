/**
 * The condition that a row belongs to a tenant. Only this file writes it, because a statement without it would show one
 * organization's data to another.
 */
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"

/** True for the tenant's rows. `alias` names the table. A statement over one table needs none. */
export const ofTenant = (sql: SqlClient, { organizationId, mode }: Tenant, alias?: string): Fragment => {
  const prefix = prefixOf(sql, alias)
  return sql`${prefix}organization_id = ${organizationId} and ${prefix}mode = ${mode}`
}

/** True for the tenant's unarchived rows. */
export const unarchivedOf = (sql: SqlClient, tenant: Tenant, alias?: string): Fragment =>
  sql`${ofTenant(sql, tenant, alias)} and not ${prefixOf(sql, alias)}archived`

/** True for the organization's rows, in live and in test mode. */
export const ofOrganization = (sql: SqlClient, organizationId: string, alias?: string): Fragment =>
  sql`${prefixOf(sql, alias)}organization_id = ${organizationId}`

/** True if the rows of two tables belong to the same tenant. */
export const ofSameTenant = (sql: SqlClient, alias: string, other: string): Fragment =>
  sql.literal(`${alias}.organization_id = ${other}.organization_id and ${alias}.mode = ${other}.mode`)

/** The time of the tenant of a row, as SQL: its test clock's, or `now`. */
export const timeOfTenant = (sql: SqlClient, alias: string, now: Millis): Fragment => sql`coalesce((
    select clock.frozen_at from test_clocks clock
    where clock.organization_id = ${prefixOf(sql, alias)}organization_id and ${prefixOf(sql, alias)}mode = 'test'
  ), ${new Date(now)}::timestamptz)`

const prefixOf = (sql: SqlClient, alias: string | undefined): Fragment =>
  sql.literal(alias === undefined ? "" : `${alias}.`)
