/**
 * The stock of variants, as orders count it. The order's transaction locks the variants, always sorted by id, so
 * concurrent orders count one after another.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import * as Stock from "../../domain/catalogue/Stock.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** Takes and returns the necessary units. Returns the units that the order then holds. */
export const count = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  tenant: Tenant,
  { by, now }: { readonly by: string; readonly now: Date },
  taken: Stock.Units,
  needs: ReadonlyArray<Stock.Need>
) {
  if (needs.length === 0) return taken
  const ids = needs.map(({ variantId }) => variantId)
  const givenBack = needs.filter(({ back }) => back > 0).map(({ variantId }) => variantId)
  const rows = yield* sql<Stock.Stock & { readonly id: string }>`
    select v.id, v.record ->> 'inventoryPolicy' as policy,
      coalesce((v.record ->> 'inventoryQuantity')::int, 0) as quantity
    from product_variants v
    where v.id = any(${ids}::uuid[]) and ${ofTenant(sql, tenant, "v")}
      and (v.record ->> 'inventoryPolicy' <> 'untracked' or v.id = any(${givenBack}::uuid[]))
    order by v.id for no key update`
  const stocks = new Map(rows.map(({ id, ...stock }) => [id, stock]))
  const { taken: left, quantities } = yield* Effect.fromResult(Stock.counted(taken, needs, stocks))
  if (quantities.size > 0) {
    const written = yield* sql`
      update product_variants v
      set record = v.record || jsonb_build_object('inventoryQuantity', counted.quantity),
        updated_at = ${now}, updated_by = ${by}
      from unnest(${[...quantities.keys()]}::uuid[], ${[...quantities.values()]}::int[]) as counted (id, quantity)
      where v.id = counted.id and not exists (
        select 1 from stock_variants s join mechanisms m on m.id = s.stock_id
        where s.variant_id = v.id and not m.archived
      )
      returning 1`
    // A stock that was created since the order looked for it has counted these units.
    if (written.length < quantities.size) return yield* new Unavailable({ cause: "a variant now belongs to a stock" })
  }
  return left
})
