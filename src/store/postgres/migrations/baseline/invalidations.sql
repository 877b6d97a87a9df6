-- Functions and triggers that tell other processes of a change. The database itself sends this, so that no writer can
-- forget it. A transaction that changes many rows sends it once.

create function tell_catalogue() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'catalogue:' || coalesce(new.organization_id, old.organization_id));
    return null;
  end $$;

create function tell_catalogue_of_product() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'catalogue:' || organization_id)
    from products where id = coalesce(new.product_id, old.product_id);
    return null;
  end $$;

create function tell_catalogue_of_variant() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'catalogue:' || organization_id)
    from product_variants where id = coalesce(new.product_variant_id, old.product_variant_id);
    return null;
  end $$;

create function tell_assigned() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'assigned:' || coalesce(new.organization_id, old.organization_id));
    return null;
  end $$;

create function tell_challenge() returns trigger language plpgsql as $$
  begin
    perform pg_notify('usher_invalidations', 'challenge:' || case
      when tg_table_name = 'organizations' then new.id else (to_jsonb(new) ->> 'organization_id')::uuid end);
    return null;
  end $$;

create trigger organizations_challenge after update of settings on organizations
  for each row when ((old.settings -> 'challenge') is distinct from (new.settings -> 'challenge'))
  execute function tell_challenge();
create trigger organizations_challenge_secret after update of challenge_secret on organizations
  for each row when (old.challenge_secret is distinct from new.challenge_secret)
  execute function tell_challenge();
create trigger sync_sources_told after delete or update on sync_sources for each row
  execute function tell_catalogue();
create trigger media_assets_told after delete or update on media_assets for each row
  execute function tell_catalogue();
create trigger products_assigned after update of archived on products
  for each row when (old.archived is distinct from new.archived)
  execute function tell_assigned();
create trigger products_told after delete or update on products for each row
  execute function tell_catalogue();
create trigger product_variants_told after insert or delete or update on product_variants for each row
  execute function tell_catalogue();
create trigger variants_assigned after insert or delete or update of archived, product_id on product_variants for each row
  execute function tell_assigned();
create trigger variant_options_told after delete or update on variant_options for each row
  execute function tell_catalogue();
create trigger variant_option_values_told after delete or update on variant_option_values for each row
  execute function tell_catalogue();
create trigger product_variant_options_told after insert or delete or update on product_variant_options for each row
  execute function tell_catalogue_of_variant();
create trigger product_media_assets_told after insert or delete or update on product_media_assets for each row
  execute function tell_catalogue_of_product();
create trigger experiences_challenge_changed after update of record, archived on experiences
  for each row when (((old.record -> 'challenge') is distinct from (new.record -> 'challenge')) or ((old.archived is distinct from new.archived) and (new.record ? 'challenge')))
  execute function tell_challenge();
create trigger experiences_challenge_made after insert on experiences
  for each row when (new.record ? 'challenge')
  execute function tell_challenge();
create trigger sequences_assigned after update of record on sequences
  for each row when (old.record is distinct from new.record)
  execute function tell_assigned();
create trigger experience_products_told after insert or delete or update on experience_products for each row
  execute function tell_catalogue();
