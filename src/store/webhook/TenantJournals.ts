/** The journals of a tenant, from their first events on: those of its mechanisms, and its own. */
import { Effect } from "effect"
import { PgClient } from "@effect/sql-pg"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { onlyProduct } from "./EventProducts.ts"
import { type Source, type SourceRow, type TenantSource, toSource } from "./OutboxRows.ts"

/** Returns the journals with their last events. Costs a row for each mechanism: for a developer's own tools. */
export const journalsOf = Effect.fnUntraced(function* (tenant: Tenant) {
  const sql = yield* PgClient.PgClient
  const own = yield* sql<TenantSource>`
    select t.organization_id as "subjectId", 0 as "readUpTo", t.sequence::float8 as "lastSequence"
    from tenant_heads t where ${ofTenant(sql, tenant, "t")}`
  const mechanisms = yield* sql<SourceRow>`
    select m.id, m.kind, m.organization_id, m.mode, m.experience_id, m.sequence_id,
      coalesce(s.record ->> 'productSelectionMode' = 'SYSTEM_ASSIGNED', false) as assigns_products,
      ${onlyProduct(sql)} as product_id,
      0 as read_up_to, h.sequence::float8 as last_sequence
    from mechanisms m join mechanism_heads h on h.mechanism_id = m.id left join sequences s on s.id = m.sequence_id
    where ${ofTenant(sql, tenant, "m")}`
  return [...own, ...mechanisms.map(toSource)] as ReadonlyArray<Source>
}, orUnavailable)
