/**
 * The products that the system assigns to consumers, in sequences that leave the choice to the system. The assignment
 * is computed (domain/experience/SequenceProduct.ts) from cached rows, so it runs no SQL. The database notifies every
 * process when a sequence or the catalogue has changed (`Invalidations`). While notifications may have been missed, the
 * database is read.
 */
import { PgClient } from "@effect/sql-pg"
import { Cache, Context, Effect, Exit, Layer } from "effect"
import type { MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import { pick, type SequenceProduct } from "../../domain/experience/SequenceProduct.ts"
import type { Mode } from "../../domain/values/Ids.ts"
import { Invalidations } from "../coordination/Invalidations.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { serverSecret } from "../coordination/ServerSecrets.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { ofSameTenant, ofTenant } from "../records/Tenancy.ts"

/** Sequences whose products are cached. */
const rememberedSequences = 5_000

/** A product that can be assigned, with its variants. */
export interface AssignedProduct extends SequenceProduct {
  readonly variantIds: ReadonlySet<string>
}

export class AssignedProducts extends Context.Service<
  AssignedProducts,
  {
    /** Returns the product that the system assigns to the consumer in the sequence. Undefined if it assigns none. */
    of(
      sequence: Pick<MechanismIdentity, "organizationId" | "mode" | "sequenceId">,
      consumerId: string
    ): Effect.Effect<AssignedProduct | undefined, Unavailable>
  }
>()("usher/store/experience/AssignedProducts") {
  static readonly layer = Layer.effect(AssignedProducts)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const invalidations = yield* Invalidations
      const secret = Buffer.from(yield* serverSecret("assigned_products")).toString("hex")

      const read = Effect.fn("AssignedProducts.read")(function* (key: string) {
        const [organizationId, mode, sequenceId] = key.split(" ") as [string, Mode, string]
        const tenant = { organizationId, mode }
        const rows = yield* sql<SequenceProduct & { readonly variantIds: ReadonlyArray<string> }>`
          select p.id as "productId", (w.weighed ->> 'weight')::int as weight, array(
            select v.id from product_variants v where v.product_id = p.id and not v.archived
          ) as "variantIds"
          from sequences s
          cross join jsonb_array_elements(s.record -> 'sequenceProducts') as w (weighed)
          join products p on p.id = (w.weighed ->> 'productId')::uuid and not p.archived
            and ${ofSameTenant(sql, "p", "s")}
          where s.id = ${sequenceId} and ${ofTenant(sql, tenant, "s")}
            and s.record ->> 'productSelectionMode' = 'SYSTEM_ASSIGNED'`
        return rows.map((row): AssignedProduct => ({ ...row, variantIds: new Set(row.variantIds) }))
      }, orUnavailable)

      // Concurrent callers share one query. If the key is invalidated in the meantime, the result is not cached.
      const remembered = yield* Cache.makeWith(read, {
        capacity: rememberedSequences,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? "Infinity" : 0)
      })

      const forget = Effect.fnUntraced(function* (organizationId: string) {
        for (const key of yield* Cache.keys(remembered)) {
          if (key.startsWith(`${organizationId} `)) yield* Cache.invalidate(remembered, key)
        }
      })

      yield* invalidations.subscribe("assigned", { handle: forget, refresh: Cache.invalidateAll(remembered) })

      const products = (key: string) =>
        Effect.suspend(() => (invalidations.isCurrent() ? Cache.get(remembered, key) : read(key)))

      return {
        of: ({ organizationId, mode, sequenceId }, consumerId) =>
          Effect.map(products(`${organizationId} ${mode} ${sequenceId}`), (found) =>
            pick(secret, { sequenceId, consumerId }, found)
          )
      }
    })
  )
}
