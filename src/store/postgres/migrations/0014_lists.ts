/**
 * Lists at size: a search in every list has an index, so has the type of an event, and a page of a list can tell how
 * large documents are before it reads them.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // It takes some 0.1 ms. Who knows that asks an index for the pieces, and does not work them out row by row.
  yield* sql`alter function search_pieces(text) cost 5000`

  // Kept in lower case, as to compare takes a tenth of what it takes to put it in lower case. Those who are archived stay in
  // audiences and in mechanisms, and are found there.
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

  // A type that few events have is found by the pages that have it, as those of a time are; a page remembers both.
  yield* sql`drop index journal_by_time`
  yield* sql`
    create index journal_by_time_and_type on journal using brin (at, type text_bloom_ops)
    with (pages_per_range = 32, autosummarize = on)`

  for (const table of ["experiences", "sequences", "audiences"]) {
    yield* sql`create index ${sql(`${table}_search`)} on ${sql(table)} using gin (search_pieces(name)) where not archived`
  }
  yield* sql`
    create index mechanisms_search on mechanisms using gin (search_pieces(configuration ->> 'name')) where not archived`

  // Orders that had none, in the very words of their lists.
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
