/**
 * The units that orders took from the stock of variants, the totals of consumers' orders by currency, and the
 * experience pages that consumers see.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Units by variant, returned to the stock when the order is cancelled. Older orders took none.
  yield* sql`alter table orders add column taken_units jsonb not null default '{}'`

  // Totals of orders that are not cancelled, by currency. `total_order_value` is the total in the organization's own
  // currency.
  yield* sql`alter table consumers add column order_totals jsonb not null default '{}'`
  yield* sql`
    with sums as (
      select consumer_id, currency_code, sum(total) as total
      from orders where status <> 'CANCELLED' group by 1, 2 having sum(total) > 0
    ), totals as (
      select consumer_id, jsonb_object_agg(currency_code, trim_scale(total)::text) as by_currency from sums group by 1
    )
    update consumers c set
      order_totals = t.by_currency,
      total_order_value = coalesce((t.by_currency ->> coalesce(o.settings ->> 'currencyCode', 'USD'))::numeric, 0)
    from totals t, organizations o
    where c.id = t.consumer_id and o.id = c.organization_id`

  // A request for an experience's page without a slug gets the page that was published last.
  yield* sql`
    create index experience_pages_shown on experience_pages (experience_id, last_published_at, id)
    where status = 'PUBLISHED' and not archived and creative_document ->> 'kind' = 'experience-page'`
})
