/** Experience pages with their creative documents. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table experience_pages (
      id uuid primary key,
      organization_id uuid not null references organizations,
      mode text not null,
      experience_id uuid not null references experiences,
      slug text not null,
      title text not null,
      status text not null check (status in ('DRAFT', 'PUBLISHED')),
      creative_document jsonb not null,
      record jsonb not null,
      published_at timestamptz,
      last_published_at timestamptz,
      created_at timestamptz not null,
      created_by text not null,
      updated_at timestamptz not null,
      updated_by text not null,
      archived boolean not null default false
    )`
  // An archived page releases its slug.
  yield* sql`create unique index experience_pages_slugs on experience_pages (experience_id, slug) where not archived`
  yield* sql`
    create index experience_pages_by_tenant on experience_pages (organization_id, mode, created_at, id)
    where not archived`
  yield* sql`
    create index experience_pages_by_title on experience_pages (organization_id, mode, title, id) where not archived`
  yield* sql`
    create index experience_pages_by_update on experience_pages (organization_id, mode, updated_at, id)
    where not archived`
  yield* sql`
    create index experience_pages_by_status on experience_pages (organization_id, mode, status, created_at, id)
    where not archived`
  yield* sql`create index experience_pages_of_experiences on experience_pages (experience_id, created_at, id)`
  // Without a pending list, which each search would have to read. Pages are rarely written.
  yield* sql`
    create index experience_pages_search on experience_pages
    using gin (search_pieces(title || ' ' || slug)) with (fastupdate = off) where not archived`
})
