/** The consumers of a queue's grants, which `jti` name by the sequence of the event that made them. */
import { Effect, Context } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"

export class GrantHolders extends Context.Service<
  GrantHolders,
  {
    /** Returns the consumers of the tenant's queue by the sequences of their grants. */
    find(
      tenant: Tenant,
      queueId: string,
      sequences: ReadonlyArray<number>
    ): Effect.Effect<ReadonlyMap<number, string>, Unavailable>
  }
>()("usher/store/mechanism/GrantHolders") {
  static readonly layer = onDatabase(GrantHolders, (sql) => ({
    find: Effect.fn("GrantHolders.find")(function* (tenant: Tenant, queueId: string, sequences: ReadonlyArray<number>) {
      const rows = yield* sql<{ readonly sequence: bigint; readonly consumer_id: string }>`
        select j.sequence, j.consumer_id
        from mechanisms m join journal j on j.mechanism_id = m.id and j.type = 'Granted'
        where m.id = ${queueId} and ${ofTenant(sql, tenant, "m")} and j.sequence = any(${sequences}::bigint[])`
      return new Map(rows.map((row) => [Number(row.sequence), row.consumer_id]))
    }, orUnavailable)
  }))
}
