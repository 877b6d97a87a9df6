/** Removes the indexes of searches by the locale's lower case, and respells what former releases wrote meanwhile. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { respellAll } from "./text/Spellings.ts"

const formerIndexes = [
  "audiences_search",
  "consumers_search",
  "consumers_search_archived",
  "experience_pages_search",
  "experiences_search",
  "mechanisms_search",
  "media_assets_searched",
  "orders_search",
  "people_searched",
  "product_variants_searched",
  "products_searched",
  "receivers_searched",
  "sequences_search",
  "sync_sources_searched",
  "variant_options_by_search",
  "webhooks_searched",
  "audiences_archived_search",
  "experience_pages_archived_search",
  "experiences_archived_search",
  "mechanisms_archived_search",
  "media_assets_archived_search",
  "product_variants_archived_search",
  "products_archived_search",
  "sequences_archived_search",
  "sync_sources_archived_search",
  "variant_options_archived_search"
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* respellAll
  for (const index of formerIndexes) yield* sql`drop index ${sql(index)}`
})
