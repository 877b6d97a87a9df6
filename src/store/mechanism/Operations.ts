/**
 * The health of one tenant's mechanisms: the parked ones, and those with overdue wake-ups.
 */
import { Context, Effect } from "effect"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** The maximum of mechanisms whose nodes are shown. The oldest are shown. */
export const locatedMax = 10_000

/** A parked mechanism of a tenant. */
export interface ParkedMechanism {
  readonly mechanismId: string
  readonly kind: Kind
  readonly experienceId: string
  readonly name: string
  readonly node: string
  readonly parkedAt: Millis
  readonly restarts: number
}

export class Operations extends Context.Service<
  Operations,
  {
    /** Returns the tenant's parked mechanisms, the latest first. */
    parked(tenant: Tenant): Effect.Effect<ReadonlyArray<ParkedMechanism>, Unavailable>
    /** Returns the earliest overdue wake-up of the tenant's mechanisms. Undefined if none is overdue. */
    overdue(tenant: Tenant, now: Millis): Effect.Effect<Millis | undefined, Unavailable>
    /** Returns the ids of the tenant's unfinished mechanisms, at most {@link locatedMax}. */
    unfinished(tenant: Tenant): Effect.Effect<ReadonlyArray<string>, Unavailable>
  }
>()("usher/store/mechanism/Operations") {
  static readonly layer = onDatabase(Operations, (sql) => {
    const parked = Effect.fn("Operations.parked")(function* (tenant: Tenant) {
      const rows = yield* sql<Omit<ParkedMechanism, "parkedAt"> & { readonly parkedAt: Date }>`
        select p.mechanism_id as "mechanismId", m.kind, m.experience_id as "experienceId",
          m.configuration ->> 'name' as name, p.node, p.parked_at as "parkedAt", p.restarts
        from parked_mechanisms p join mechanisms m on m.id = p.mechanism_id
        where ${ofTenant(sql, tenant, "m")} order by p.parked_at desc, p.mechanism_id`
      return rows.map((row) => ({ ...row, parkedAt: row.parkedAt.getTime() }))
    }, orUnavailable)

    const overdue = Effect.fn("Operations.overdue")(function* (tenant: Tenant, now: Millis) {
      const [row] = yield* sql<{ readonly wakeAt: Date | null }>`
        select min(h.wake_at) as "wakeAt" from mechanism_heads h join mechanisms m on m.id = h.mechanism_id
        where h.wake_at < ${new Date(now)} and ${ofTenant(sql, tenant, "m")}`
      return row?.wakeAt?.getTime()
    }, orUnavailable)

    const unfinished = Effect.fn("Operations.unfinished")(function* (tenant: Tenant) {
      const rows = yield* sql<{ readonly id: string }>`
        select m.id from mechanisms m
        where ${ofTenant(sql, tenant, "m")} and m.teardown_status is distinct from 'completed' order by m.id limit ${locatedMax}`
      return rows.map(({ id }) => id)
    }, orUnavailable)

    return { parked, overdue, unfinished }
  })
}
