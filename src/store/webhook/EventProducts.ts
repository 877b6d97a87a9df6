/** The products that events of mechanisms are about, as SQL, apart from those that the system assigns. */
import type { PgClient } from "@effect/sql-pg"
import type { Fragment } from "effect/sql/Statement"
import { type Kind, selectingKinds } from "../../domain/mechanism/Mechanism.ts"
import { ofSameTenant } from "../records/Tenancy.ts"

/**
 * The product of a mechanism `m`: the only one of its sequence, or of its experience if the sequence names none. Null if
 * there are several.
 */
export const onlyProduct = (sql: PgClient.PgClient): Fragment => sql`(
  select case when count(*) = 1 then min(p.id::text) end from products p
  where not p.archived and ${ofSameTenant(sql, "p", "m")} and p.id = any(coalesce(
    (select nullif(array(
      select (named #>> '{}')::uuid
      from jsonb_array_elements(jsonb_path_query_array(s.record, '$.sequenceProducts[*].productId')) as named
    ), '{}') from sequences s where s.id = m.sequence_id),
    array(select x.product_id from experience_products x where x.experience_id = m.experience_id)
  ))
)`

/**
 * The product of the variant that the consumer of an event `j` has selected. An event
 * without one counts for the selection of the place.
 */
export const selectedProduct = (sql: PgClient.PgClient, kind: Kind): Fragment =>
  selectingKinds.includes(kind)
    ? sql`(
        select v.product_id from product_variants v where v.id = coalesce(
          j.data ->> 'variantId',
          (select fields ->> 'selectedVariantId' from places
            where mechanism_id = j.mechanism_id and consumer_id = j.consumer_id)
        )::uuid
      )`
    : sql`null::uuid`
