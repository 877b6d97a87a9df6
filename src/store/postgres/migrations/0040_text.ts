/**
 * Texts are compared by the rules of Unicode, and not by those of the database's locale: without regard to case by
 * `fold_case`, exactly in NFC, and mailboxes in one spelling.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ConcurrentIndex } from "../ConcurrentIndexes.ts"
import { foldCaseFunction } from "./text/CaseFolding.ts"
import { respellAll } from "./text/Spellings.ts"

const searchedOf = (row: string) =>
  `coalesce(${row}email, '') || ' ' || coalesce(${row}phone, '') || ' ' || coalesce(${row}full_name, '')`

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // First what takes time, because the locks of later statements last until the end of the step.
  yield* respellAll

  yield* sql`${sql.literal(foldCaseFunction())}`

  // What a search reads of a consumer, if it differs from `searched`, as it seldom does. A generated column would
  // rewrite the table.
  yield* sql`alter table consumers add column search_text text`
  yield* sql`${sql.literal(`
    create function note_search_text() returns trigger language plpgsql as $$
    declare
      searched text := ${searchedOf("new.")};
    begin
      new.search_text := nullif(fold_case(searched), lower(searched));
      return new;
    end $$`)}`
  // Anonymous guests do not even call the function.
  yield* sql`
    create trigger consumers_insert_search before insert on consumers for each row
    when (new.email is not null or new.phone is not null or new.full_name is not null)
    execute function note_search_text()`
  yield* sql`
    create trigger consumers_update_search before update of email, phone, full_name on consumers for each row
    execute function note_search_text()`
})

/** Writes the search text of the next consumers of earlier releases. Returns the last of them. */
const fillSearchText = (after: string | null): string => `
  with batch as (
    select id, ${searchedOf("")} as searched from consumers
    where ${after === null ? "true" : `id > '${after}'`} order by id limit 5000
  ), filled as (
    update consumers c set search_text = fold_case(b.searched) from batch b
    where c.id = b.id and not c.anonymous and fold_case(b.searched) <> lower(b.searched)
  )
  select id::text as last from batch order by id desc limit 1`

/** The searched texts of tables, and the rows with a search. */
const searches: ReadonlyArray<readonly [table: string, text: string, part: string, options?: string]> = [
  ["audiences", "name", "not archived"],
  ["experience_pages", "title || ' ' || slug", "not archived", "fastupdate = off"],
  ["experiences", "name", "not archived"],
  ["mechanisms", "configuration ->> 'name'", "not archived"],
  ["media_assets", "name", "not archived"],
  ["orders", "coalesce(external_id, '') || ' ' || coalesce(number, '')", "true"],
  ["people", "email || ' ' || coalesce(name, '')", "not archived"],
  ["product_variants", "coalesce(sku, '')", "not archived"],
  ["products", "name || E'\\n' || coalesce(record ->> 'handle', '')", "not archived"],
  ["receivers", "adapter || ' ' || coalesce(description, '')", "not archived"],
  ["sequences", "name", "not archived"],
  ["sync_sources", "sync_source || E'\\n' || sync_source_id", "not archived"],
  ["variant_options", "name", "not archived"],
  ["webhooks", "url", "not archived"]
]

/** Tables of which archived rows have an index too. */
const withArchived = new Set([
  "audiences",
  "experience_pages",
  "experiences",
  "mechanisms",
  "media_assets",
  "product_variants",
  "products",
  "sequences",
  "sync_sources",
  "variant_options"
])

const consumerText = "coalesce(search_text, searched)"

const searchIndex = (name: string, table: string, text: string, part: string, options = "fastupdate = on") => ({
  name,
  definition: `on ${table} using gin (search_pieces(organization_id, mode, ${text})) with (${options}) where ${part}`
})

/** The indexes of searches. They replace those by the locale's lower case. */
export const indexes: ReadonlyArray<ConcurrentIndex> = [
  {
    ...searchIndex("consumers_by_text", "consumers", consumerText, "not anonymous and not archived"),
    fill: fillSearchText
  },
  searchIndex("consumers_archived_by_text", "consumers", consumerText, "not anonymous and archived"),
  ...searches.flatMap(([table, text, part, options]) => [
    searchIndex(`${table}_by_text`, table, `fold_case(${text})`, part, options),
    ...(withArchived.has(table)
      ? [searchIndex(`${table}_archived_by_text`, table, `fold_case(${text})`, "archived")]
      : [])
  ])
]
