/**
 * Large lists: every list's search has an index, and so does the type of an event. A page of a list can compute the
 * size of large documents before it reads them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // It takes some 0.1 ms. Given this cost, the planner uses an index for the parts instead of computing them row by
  // row.
  yield* sql`alter function search_pieces(text) cost 5000`

  // Stored in lower case, because a comparison takes a tenth of the time of a conversion. Archived consumers stay in
  // audiences and mechanisms, and are found there.
  yield* sql`drop index consumers_search`
  yield* sql`
    alter table consumers add column searched text not null generated always as (
      lower(coalesce(email, '') || ' ' || coalesce(phone, '') || ' ' || coalesce(full_name, ''))
    ) stored`
  for (const [index, part] of [
    ["consumers_search", "not archived"],
    ["consumers_search_archived", "archived"]
  ] as const) {
    yield* sql`
      create index ${sql(index)} on consumers using gin (search_pieces(searched))
      where not anonymous and ${sql.literal(part)}`
  }

  // An event of a rare type is found by the pages that contain it, like the events of a period. The index summarizes
  // both for each page.
  yield* sql`drop index journal_by_time`
  yield* sql`
    create index journal_by_time_and_type on journal using brin (at, type text_bloom_ops)
    with (pages_per_range = 32, autosummarize = on)`

  for (const table of ["experiences", "sequences", "audiences"]) {
    yield* sql`create index ${sql(`${table}_search`)} on ${sql(table)} using gin (search_pieces(name)) where not archived`
  }
  yield* sql`
    create index mechanisms_search on mechanisms using gin (search_pieces(configuration ->> 'name')) where not archived`

  // Indexes for the sort orders that had none, with exactly the expressions of the lists.
  for (const [index, table, expression] of [
    ["audiences_by_name", "audiences", "name"],
    ["audiences_by_refresh", "audiences", "(coalesce(last_refreshed_at, '-infinity'))"],
    ["sequences_by_name", "sequences", "name"],
    ["sequences_by_priority", "sequences", "((record -> 'priority')::bigint)"],
    ["mechanisms_by_name", "mechanisms", "(configuration ->> 'name')"]
  ] as const) {
    yield* sql`
      create index ${sql(index)} on ${sql(table)} (organization_id, mode, ${sql.literal(expression)}, id)
      where not archived`
  }

  yield* sql`
    alter table experience_pages
    add column document_bytes int not null generated always as (octet_length(creative_document::text)) stored`
})
