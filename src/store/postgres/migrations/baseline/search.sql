-- What searches read (store/records/Search.ts), and their indexes. `fold_case` is `CaseFolding.ts`.
--
-- A piece is marked with its tenant. Two tenants with the same mark would only share index entries; a list still filters
-- by tenant. The function takes some 0.03 ms: given its cost, the planner uses an index instead of computing the pieces
-- row by row. It calls nothing of Usher's own, because an index is built without a search path.

create function search_pieces(organization_id uuid, mode text, value text) returns text[] language sql immutable strict cost 5000 parallel safe as $$
  select array(
    select mark || substr(text, start, size)
    from (
        select lower(value) as text, right(organization_id::text, 8) || left(mode, 1) as mark offset 0
      ) as marked,
      generate_series(2, 3) as size, generate_series(1, length(text) - size + 1) as start
  )
$$;

create function note_search_text() returns trigger language plpgsql as $$
  declare
    searched text := coalesce(new.email, '') || ' ' || coalesce(new.phone, '') || ' ' || coalesce(new.full_name, '');
  begin
    new.search_text := nullif(fold_case(searched), lower(searched));
    return new;
  end $$;

-- Anonymous guests do not even call the function.
create trigger consumers_insert_search before insert on consumers
  for each row when ((new.email is not null) or (new.phone is not null) or (new.full_name is not null))
  execute function note_search_text();
create trigger consumers_update_search before update of email, phone, full_name on consumers for each row
  execute function note_search_text();

-- Archived rows of records have indexes of their own, so that writes of live rows cost no more.
create index people_by_text on people using gin (search_pieces(organization_id, mode, fold_case(((email || ' ') || coalesce(name, ''))))) with (fastupdate = on) where not archived;
create index sync_sources_archived_by_text on sync_sources using gin (search_pieces(organization_id, mode, fold_case(((sync_source || E'\n') || sync_source_id)))) with (fastupdate = on) where archived;
create index sync_sources_by_text on sync_sources using gin (search_pieces(organization_id, mode, fold_case(((sync_source || E'\n') || sync_source_id)))) with (fastupdate = on) where not archived;
create index media_assets_archived_by_text on media_assets using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where archived;
create index media_assets_by_text on media_assets using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where not archived;
create index products_archived_by_text on products using gin (search_pieces(organization_id, mode, fold_case(((name || E'\n') || coalesce((record ->> 'handle'), ''))))) with (fastupdate = on) where archived;
create index products_by_text on products using gin (search_pieces(organization_id, mode, fold_case(((name || E'\n') || coalesce((record ->> 'handle'), ''))))) with (fastupdate = on) where not archived;
create index product_variants_archived_by_text on product_variants using gin (search_pieces(organization_id, mode, fold_case(coalesce(sku, '')))) with (fastupdate = on) where archived;
create index product_variants_by_text on product_variants using gin (search_pieces(organization_id, mode, fold_case(coalesce(sku, '')))) with (fastupdate = on) where not archived;
create index variant_options_archived_by_text on variant_options using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where archived;
create index variant_options_by_text on variant_options using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where not archived;
create index consumers_archived_by_text on consumers using gin (search_pieces(organization_id, mode, coalesce(search_text, searched))) with (fastupdate = on) where (not anonymous) and archived;
create index consumers_by_text on consumers using gin (search_pieces(organization_id, mode, coalesce(search_text, searched))) with (fastupdate = on) where (not anonymous) and (not archived);
create index audiences_archived_by_text on audiences using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where archived;
create index audiences_by_text on audiences using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where not archived;
create index experiences_archived_by_text on experiences using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where archived;
create index experiences_by_text on experiences using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where not archived;
create index sequences_archived_by_text on sequences using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where archived;
create index sequences_by_text on sequences using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where not archived;
create index experience_pages_archived_by_text on experience_pages using gin (search_pieces(organization_id, mode, fold_case(((title || ' ') || slug)))) with (fastupdate = on) where archived;
-- Without a pending list, which each search would have to read. Pages are rarely written.
create index experience_pages_by_text on experience_pages using gin (search_pieces(organization_id, mode, fold_case(((title || ' ') || slug)))) with (fastupdate = off) where not archived;
create index mechanisms_archived_by_text on mechanisms using gin (search_pieces(organization_id, mode, fold_case((configuration ->> 'name')))) with (fastupdate = on) where archived;
create index mechanisms_by_text on mechanisms using gin (search_pieces(organization_id, mode, fold_case((configuration ->> 'name')))) with (fastupdate = on) where not archived;
create index orders_by_text on orders using gin (search_pieces(organization_id, mode, fold_case(((coalesce(external_id, '') || ' ') || coalesce(number, ''))))) with (fastupdate = on);
create index gates_by_text on gates using gin (search_pieces(organization_id, mode, fold_case(name))) with (fastupdate = on) where not archived;
create index receivers_by_text on receivers using gin (search_pieces(organization_id, mode, fold_case(((adapter || ' ') || coalesce(description, ''))))) with (fastupdate = on) where not archived;
create index webhooks_by_text on webhooks using gin (search_pieces(organization_id, mode, fold_case(url))) with (fastupdate = on) where not archived;
