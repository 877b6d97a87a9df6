/** The grants that payments name. The journal is the record of a grant: the event that made it has its consumer. */
import { Context, Effect } from "effect"
import type { NamedGrant } from "../../domain/receiver/Meaning.ts"
import type { Price } from "../../domain/values/Amount.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

/** A grant as the journal has it. */
export interface FoundGrant {
  readonly kind: "queue" | "draw" | "auction" | "timed_release"
  readonly consumerId: string
  /** True if the grant was completed, perhaps before its consumer received another one. */
  readonly isCompleted: boolean
  /** The amount that an auction's winner has to pay; undefined for other kinds. */
  readonly price: { readonly amount: Price; readonly currencyCode: string } | undefined
}

export class NamedGrants extends Context.Service<
  NamedGrants,
  {
    /** Returns the grant; undefined if the tenant has none of this name, or its mechanism is archived. */
    find(tenant: Tenant, grant: NamedGrant): Effect.Effect<FoundGrant | undefined, Unavailable>
  }
>()("usher/store/mechanism/NamedGrants") {
  static readonly layer = onDatabase(NamedGrants, (sql) => {
    const find = Effect.fn("NamedGrants.find")(function* (tenant: Tenant, { mechanismId, sequence }: NamedGrant) {
      const rows = yield* sql<GrantRow>`
        select m.kind, j.consumer_id, m.configuration ->> 'currencyCode' as currency_code,
          exists (
            select from journal c
            where c.mechanism_id = m.id and c.type = 'Completed' and c.at >= j.at and c.consumer_id = j.consumer_id
              and (c.data -> 'grant') is not null and c.data -> 'grant' ->> 'sequence' = ${`${sequence}`}
          ) as is_completed,
          case when m.kind = 'auction' then (
            select b.data ->> 'amount' from journal b
            where b.mechanism_id = m.id and b.sequence < j.sequence and b.type = 'BidPlaced'
              and b.consumer_id = j.consumer_id
            order by b.sequence desc limit 1
          ) end as amount
        from mechanisms m
        join journal j on j.mechanism_id = m.id and j.sequence = ${sequence}
        where m.id = ${mechanismId} and ${unarchivedOf(sql, tenant, "m")} and j.consumer_id is not null
          and (m.kind, j.type) in (
            ('queue', 'Granted'), ('draw', 'Won'), ('auction', 'Won'), ('timed_release', 'Entered')
          )`
      return rows[0] && toGrant(rows[0])
    }, orUnavailable)

    return { find }
  })
}

interface GrantRow {
  readonly kind: FoundGrant["kind"]
  readonly consumer_id: string
  readonly is_completed: boolean
  readonly amount: Price | null
  readonly currency_code: string | null
}

const toGrant = ({ kind, consumer_id, is_completed, amount, currency_code }: GrantRow): FoundGrant => ({
  kind,
  consumerId: consumer_id,
  isCompleted: is_completed,
  price: amount === null || currency_code === null ? undefined : { amount, currencyCode: currency_code }
})
