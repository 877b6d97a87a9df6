-- The journal of a tenant: the changes of its records, settings and keys, with their authors. It is the audit log.
--
-- Triggers write it, so no change of a row bypasses it. A row's trigger notes the event in `noted_events`. At the commit
-- one statement gives the events of the transaction their numbers, which are gapless for each tenant. Only then the row
-- of `tenant_heads` is locked, always in the same order, so transactions do not deadlock over it.

create table tenant_heads (
  organization_id uuid not null references organizations,
  mode text not null,
  sequence bigint not null,
  primary key (organization_id, mode)
) with (fillfactor = 50);

create table tenant_events (
  organization_id uuid not null,
  mode text not null,
  sequence bigint not null,
  at timestamptz not null,
  type text not null,
  actor text not null,
  subject_id uuid not null,
  data jsonb not null,
  primary key (organization_id, mode, sequence)
);
create index tenant_events_by_actor on tenant_events (organization_id, mode, actor, sequence);
create index tenant_events_by_age on tenant_events using brin (at);
create index tenant_events_by_subject_id on tenant_events (organization_id, mode, subject_id, sequence);
create index tenant_events_by_time on tenant_events (organization_id, mode, at);
create index tenant_events_by_type on tenant_events (organization_id, mode, type, sequence);

-- Its rows live for one transaction, so nothing is lost with the table after a crash of the database.
create unlogged table noted_events (
  transaction xid8 not null default pg_current_xact_id(),
  position bigint generated always as identity,
  organization_id uuid not null,
  mode text not null,
  at timestamptz not null,
  type text not null,
  actor text not null,
  subject_id uuid not null,
  data jsonb not null
);
create index noted_events_by_transaction on noted_events (transaction, subject_id);

-- The name of a column's field in the API.
create function field_of(name text) returns text language sql immutable as $$
  select case name when 'access_code_hash' then 'accessCode'
    else lower(left(name, 1)) || substr(replace(initcap(replace(name, '_', ' ')), ' ', ''), 2) end
$$;

-- The value of a column. Totals are texts in the API.
create function value_of(fields jsonb, name text) returns jsonb language sql immutable as $$
  select case name when 'total' then to_jsonb(trim_scale((fields ->> name)::numeric)::text) else fields -> name end
$$;

-- The names of the fields that differ, and the values of those that are shown; null if none differs. Null and absent are
-- the same. The members of settings are fields of their own. Of two fields with one name the later wins. A loop takes a
-- tenth of the time of a statement over all fields, of which few differ. A value of more than 1,000 characters is left out.
create function changed_fields(before jsonb, after jsonb, columns text[], shown text[]) returns jsonb language plpgsql immutable as $$
  declare
    name text;
    field text;
    former jsonb;
    present jsonb;
    changed text[] := '{}';
    was jsonb := '{}';
    now_is jsonb := '{}';
  begin
    foreach name in array columns loop
      continue when coalesce(before -> name, 'null') = coalesce(after -> name, 'null');
      for field, former, present in
        select field_of(name), value_of(before, name), value_of(after, name)
        where name not in ('record', 'settings', 'configuration')
        union all
        select key, o.value, n.value
        from jsonb_each(case when name in ('record', 'settings', 'configuration') then before -> name end) o
        full join jsonb_each(case when name in ('record', 'settings', 'configuration') then after -> name end) n using (key)
        where coalesce(o.value, 'null') <> coalesce(n.value, 'null')
      loop
        if field <> all (changed) then
          changed := changed || field;
        end if;
        if field = any (shown) then
          if former <> 'null' and length(former::text) <= 1000 then
            was := was || jsonb_build_object(field, former);
          end if;
          if present <> 'null' and length(present::text) <= 1000 then
            now_is := now_is || jsonb_build_object(field, present);
          end if;
        end if;
      end loop;
    end loop;
    if changed = '{}' then
      return null;
    end if;
    return jsonb_build_object(
      'changed', (select jsonb_agg(c order by c) from unnest(changed) c), 'before', was, 'after', now_is
    );
  end $$;

-- Notes the event of a row. Its arguments: the kind of record, the action if it is not what happened to the row, the
-- columns that are compared, the fields that are shown with their values, context columns, and whether rows of other
-- tables belong to the record. Values are default-deny: no secret, no address, no free-form object.
create function note_tenant_event() returns trigger language plpgsql as $$
  declare
    kind text := tg_argv[0];
    action text := tg_argv[1];
    after jsonb := to_jsonb(new);
    before jsonb := '{}';
    is_stamped boolean := true;
    actor text := after ->> 'updated_by';
    columns text[] := string_to_array(tg_argv[2], ' ');
    data jsonb;
  begin
    if tg_op = 'UPDATE' then
      before := to_jsonb(old);
      is_stamped := after -> 'updated_at' is distinct from before -> 'updated_at';
    end if;
    data := changed_fields(before, after, columns, string_to_array(tg_argv[3], ' '));
    if action = '' then
      action := case
        when tg_op = 'INSERT' then 'created'
        when (after ->> 'archived')::boolean and not (before ->> 'archived')::boolean then 'archived'
        when (before ->> 'archived')::boolean and not (after ->> 'archived')::boolean then 'restored'
        else 'updated'
      end;
    end if;
    if data is null and action = 'updated' and not (is_stamped and tg_argv[5] = 'lists') then
      return null;
    end if;
    -- A record that was written before in this transaction can have the same stamp.
    is_stamped := is_stamped or exists (
      select from noted_events where transaction = pg_current_xact_id() and subject_id = new.id
    );
    if kind = 'api_key' or (kind = 'organization' and tg_op = 'INSERT') or action = 'secret_sealed' then
      actor := coalesce(nullif(current_setting('usher.actor', true), ''), 'operator');
    elsif actor is null or not is_stamped then
      actor := 'system';
    end if;
    data := coalesce(data, '{"changed": [], "before": {}, "after": {}}');
    if tg_argv[4] <> '' then
      data := data || jsonb_build_object('context', (
        select coalesce(jsonb_object_agg(found.field, found.value), '{}') from (
          select case when c like 'record.%' then substr(c, 8) else field_of(c) end as field,
            case when c like 'record.%' then coalesce(after -> 'record', after -> 'configuration') -> substr(c, 8)
              else value_of(after, c) end as value
          from unnest(string_to_array(tg_argv[4], ' ')) c
        ) found
        where found.value <> 'null' and length(found.value::text) <= 1000
      ));
    end if;
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    select coalesce((after ->> 'organization_id')::uuid, new.id), tenant.mode,
      case when is_stamped then coalesce((after ->> 'updated_at')::timestamptz, (after ->> 'created_at')::timestamptz)
        else clock_timestamp() end,
      kind || '.' || action, actor, new.id, data
    from unnest(case when kind = 'organization' then array['live', 'test'] else array[after ->> 'mode'] end) as tenant (mode);
    return null;
  end $$;

-- Notes the event of a consumer, for each row of a batch in a tenth of the time, with no values. A guest that signs in is
-- a new consumer. A write without an author is the consumer's own.
create function note_consumer_event() returns trigger language plpgsql as $$
  declare
    is_new boolean := tg_op = 'INSERT' or old.type = 'guest';
    changed text[];
    action text := 'created';
    is_stamped boolean := true;
  begin
    if is_new then
      changed := array[case when new.type is not null then 'type' end, case when new.email is not null then 'email' end, case when new.phone is not null then 'phone' end, case when new.full_name is not null then 'fullName' end, case when new.name is not null then 'name' end, case when new.external_id is not null then 'externalId' end, case when new.loyalty_balance is not null then 'loyaltyBalance' end, case when new.attributes is not null then 'attributes' end, case when new.metadata is not null then 'metadata' end];
    else
      changed := array[case when new.type is distinct from old.type then 'type' end, case when new.email is distinct from old.email then 'email' end, case when new.phone is distinct from old.phone then 'phone' end, case when new.full_name is distinct from old.full_name then 'fullName' end, case when new.name is distinct from old.name then 'name' end, case when new.external_id is distinct from old.external_id then 'externalId' end, case when new.loyalty_balance is distinct from old.loyalty_balance then 'loyaltyBalance' end, case when new.attributes is distinct from old.attributes then 'attributes' end, case when new.metadata is distinct from old.metadata then 'metadata' end];
      is_stamped := new.updated_at is distinct from old.updated_at;
      action := case
        when new.erased_at is distinct from old.erased_at then 'erased'
        when new.archived and not old.archived then 'archived'
        when old.archived and not new.archived then 'restored'
        else 'updated'
      end;
    end if;
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    values (new.organization_id, new.mode,
      case when is_stamped then coalesce(new.updated_at, new.created_at) else clock_timestamp() end,
      'consumer.' || action, case when is_stamped and new.updated_by is not null then new.updated_by else 'consumer:' || new.id end,
      new.id, jsonb_build_object('changed', array_remove(changed, null), 'before', '{}'::jsonb, 'after', '{}'::jsonb));
    return null;
  end $$;

-- Notes that a picture was uploaded or removed, without its bytes. `usher.actor` names who removes it.
create function note_picture_event() returns trigger language plpgsql as $$
  declare
    picture pictures := case when tg_op = 'INSERT' then new else old end;
    shown jsonb := jsonb_build_object(
      'contentType', picture.content_type, 'width', picture.width, 'height', picture.height, 'bytes', picture.size
    );
  begin
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    values (
      picture.organization_id, picture.mode,
      case when tg_op = 'INSERT' then picture.created_at else clock_timestamp() end,
      case when tg_op = 'INSERT' then 'picture.created' else 'picture.removed' end,
      case when tg_op = 'INSERT' then picture.created_by
        else coalesce(nullif(current_setting('usher.actor', true), ''), 'operator') end,
      picture.id,
      jsonb_build_object(
        'changed', (select jsonb_agg(key order by key) from jsonb_object_keys(shown) key),
        'before', case when tg_op = 'INSERT' then '{}' else shown end,
        'after', case when tg_op = 'INSERT' then shown else '{}' end
      )
    );
    return null;
  end $$;

-- Notes that a font was uploaded or removed, without its bytes, likewise.
create function note_font_event() returns trigger language plpgsql as $$
  declare
    font fonts := case when tg_op = 'INSERT' then new else old end;
    shown jsonb := jsonb_build_object('bytes', font.size);
  begin
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    values (
      font.organization_id, font.mode,
      case when tg_op = 'INSERT' then font.created_at else clock_timestamp() end,
      case when tg_op = 'INSERT' then 'font.created' else 'font.removed' end,
      case when tg_op = 'INSERT' then font.created_by
        else coalesce(nullif(current_setting('usher.actor', true), ''), 'operator') end,
      font.id,
      jsonb_build_object(
        'changed', jsonb_build_array('bytes'),
        'before', case when tg_op = 'INSERT' then '{}' else shown end,
        'after', case when tg_op = 'INSERT' then shown else '{}' end
      )
    );
    return null;
  end $$;

-- Numbers the events of the transaction.
create function number_tenant_events() returns trigger language plpgsql as $$
  declare
    numbered bigint := coalesce(nullif(current_setting('usher.events_numbered', true), ''), '0')::bigint;
  begin
    if new.position <= numbered then
      return null;
    end if;
    with noted as (
      delete from noted_events where transaction = pg_current_xact_id() returning *
    ), counted as (
      select organization_id, mode, count(*) as count from noted group by organization_id, mode
    ), heads as (
      insert into tenant_heads as h (organization_id, mode, sequence)
      select organization_id, mode, count from counted order by organization_id, mode
      on conflict (organization_id, mode) do update set sequence = h.sequence + excluded.sequence
      returning h.organization_id, h.mode, h.sequence
    ), written as (
      insert into tenant_events (organization_id, mode, sequence, at, type, actor, subject_id, data)
      select organization_id, mode,
        heads.sequence - counted.count + row_number() over (partition by organization_id, mode order by noted.position),
        noted.at, noted.type, noted.actor, noted.subject_id, noted.data
      from noted join counted using (organization_id, mode) join heads using (organization_id, mode)
    )
    select max(position) into numbered from noted;
    perform set_config('usher.events_numbered', numbered::text, true);
    return null;
  end $$;

create trigger organizations_insert_noted after insert on organizations for each row
  execute function note_tenant_event('organization', '', 'name plan settings', 'name plan allowedOrigins timeZone currencyCode accessTokenTtlSeconds refreshTokenTtlSeconds loyaltyFullScoreBalance grantMessages defaultCountry smsCountries smsCodesPerDay oneAccountPerMailbox theme rateLimits', '', '');
create trigger organizations_update_noted after update on organizations for each row
  execute function note_tenant_event('organization', '', 'name plan settings', 'name plan allowedOrigins timeZone currencyCode accessTokenTtlSeconds refreshTokenTtlSeconds loyaltyFullScoreBalance grantMessages defaultCountry smsCountries smsCodesPerDay oneAccountPerMailbox theme rateLimits', '', '');
create trigger organizations_update_secret_rotated after update on organizations
  for each row when ((new.challenge_secret is distinct from old.challenge_secret) and (new.updated_at is distinct from old.updated_at))
  execute function note_tenant_event('organization', 'secret_rotated', 'challenge_secret', '', '', '');
create trigger organizations_update_secret_sealed after update on organizations
  for each row when ((new.challenge_secret_sealed_by is distinct from old.challenge_secret_sealed_by) and (new.updated_at = old.updated_at))
  execute function note_tenant_event('organization', 'secret_sealed', 'challenge_secret', '', '', '');
create trigger api_keys_insert_noted after insert on api_keys for each row
  execute function note_tenant_event('api_key', '', 'kind', 'kind', '', '');
create trigger api_keys_update_noted after update on api_keys
  for each row when ((new.revoked_at is not null) and (old.revoked_at is null))
  execute function note_tenant_event('api_key', 'revoked', 'revoked_at', 'revokedAt', '', '');
create trigger rehearsals_insert_noted after insert on rehearsals for each row
  execute function note_tenant_event('rehearsal', '', 'experience_id seed crowd declared begins_at', 'experienceId', '', '');
create trigger rehearsals_update_cancelled after update on rehearsals
  for each row when (new.is_cancelled and not old.is_cancelled)
  execute function note_tenant_event('rehearsal', 'cancelled', 'is_cancelled', 'isCancelled', '', '');
create trigger people_insert_noted after insert on people
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('person', '', 'email name role record', 'role', '', '');
create trigger people_update_noted after update on people for each row
  execute function note_tenant_event('person', '', 'email name role record', 'role', '', '');
create trigger sync_sources_insert_noted after insert on sync_sources
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('sync_source', '', 'sync_source sync_source_id record', 'syncSource syncSourceId syncStatus lastSyncedAt', '', '');
create trigger sync_sources_update_noted after update on sync_sources for each row
  execute function note_tenant_event('sync_source', '', 'sync_source sync_source_id record', 'syncSource syncSourceId syncStatus lastSyncedAt', '', '');
create trigger media_assets_insert_noted after insert on media_assets
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('media_asset', '', 'name record', 'name altText description mimeType publicUrl thumbnailUrl', '', '');
create trigger media_assets_update_noted after update on media_assets for each row
  execute function note_tenant_event('media_asset', '', 'name record', 'name altText description mimeType publicUrl thumbnailUrl', '', '');
create trigger fonts_noted after insert or delete on fonts for each row
  execute function note_font_event();
create trigger pictures_noted after insert or delete on pictures for each row
  execute function note_picture_event();
create trigger products_insert_noted after insert on products
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('product', '', 'name record default_variant_id primary_sync_source_id', 'name url handle description defaultVariantId primarySyncSourceId primaryExternalId primarySourceVendor', '', 'lists');
create trigger products_update_noted after update on products for each row
  execute function note_tenant_event('product', '', 'name record default_variant_id primary_sync_source_id', 'name url handle description defaultVariantId primarySyncSourceId primaryExternalId primarySourceVendor', '', 'lists');
create trigger product_variants_insert_noted after insert on product_variants
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('variant', '', 'product_id sku record primary_sync_source_id', 'productId sku price inventoryQuantity inventoryPolicy primarySyncSourceId primaryExternalId primarySourceVendor', '', 'lists');
create trigger product_variants_update_noted after update on product_variants for each row
  execute function note_tenant_event('variant', '', 'product_id sku record primary_sync_source_id', 'productId sku price inventoryQuantity inventoryPolicy primarySyncSourceId primaryExternalId primarySourceVendor', '', 'lists');
create trigger variant_options_insert_noted after insert on variant_options
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('variant_option', '', 'name record', 'name', '', '');
create trigger variant_options_update_noted after update on variant_options for each row
  execute function note_tenant_event('variant_option', '', 'name record', 'name', '', '');
create trigger variant_option_values_insert_noted after insert on variant_option_values
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('variant_option_value', '', 'option_id value is_centrally_managed sort_order record', 'optionId value displayValue colorHex isCentrallyManaged sortOrder', '', '');
create trigger variant_option_values_update_noted after update on variant_option_values for each row
  execute function note_tenant_event('variant_option_value', '', 'option_id value is_centrally_managed sort_order record', 'optionId value displayValue colorHex isCentrallyManaged sortOrder', '', '');
create trigger consumers_insert_noted after insert on consumers
  for each row when ((new.type = 'authenticated') and (new.created_by is distinct from 'seed'))
  execute function note_consumer_event();
create trigger consumers_update_noted after update on consumers
  for each row when ((new.type = 'authenticated') and ((new.type is distinct from old.type) or (new.email is distinct from old.email) or (new.phone is distinct from old.phone) or (new.full_name is distinct from old.full_name) or (new.name is distinct from old.name) or (new.external_id is distinct from old.external_id) or (new.loyalty_balance is distinct from old.loyalty_balance) or (new.attributes is distinct from old.attributes) or (new.metadata is distinct from old.metadata) or (new.archived is distinct from old.archived) or (new.erased_at is distinct from old.erased_at)))
  execute function note_consumer_event();
create trigger audiences_insert_noted after insert on audiences
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('audience', '', 'name type rules member_count', 'name type memberCount', '', '');
create trigger audiences_update_noted after update on audiences
  for each row when (new.updated_at is distinct from old.updated_at)
  execute function note_tenant_event('audience', '', 'name type rules member_count', 'name type memberCount', '', '');
create trigger experiences_insert_noted after insert on experiences
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('experience', '', 'name record access_code_hash', 'name openAt closeAt timeZone currencyCode theme challenge', 'name record.openAt record.closeAt', 'lists');
create trigger experiences_update_activated after update on experiences
  for each row when ((new.activated_at is not null) and (old.activated_at is null))
  execute function note_tenant_event('experience', 'activated', 'name record', '', 'name record.openAt record.closeAt', '');
create trigger experiences_update_completed after update on experiences
  for each row when ((new.completed_at is not null) and (old.completed_at is null))
  execute function note_tenant_event('experience', 'completed', 'name record', '', 'name record.openAt record.closeAt', '');
create trigger experiences_update_noted after update on experiences for each row
  execute function note_tenant_event('experience', '', 'name record access_code_hash', 'name openAt closeAt timeZone currencyCode theme challenge', 'name record.openAt record.closeAt', 'lists');
create trigger sequences_insert_noted after insert on sequences
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('sequence', '', 'experience_id name record audience_id access_code_hash', 'experienceId name priority productSelectionMode sequenceProducts audienceId orderLimitPerConsumer', '', '');
create trigger sequences_update_noted after update on sequences for each row
  execute function note_tenant_event('sequence', '', 'experience_id name record audience_id access_code_hash', 'experienceId name priority productSelectionMode sequenceProducts audienceId orderLimitPerConsumer', '', '');
create trigger experience_pages_insert_noted after insert on experience_pages
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('experience_page', '', 'experience_id slug title status creative_document record', 'experienceId slug title status creativeDesignId creativeTemplateKey', '', '');
create trigger experience_pages_update_noted after update on experience_pages for each row
  execute function note_tenant_event('experience_page', '', 'experience_id slug title status creative_document record', 'experienceId slug title status creativeDesignId creativeTemplateKey', '', '');
create trigger mechanisms_insert_noted after insert on mechanisms
  for each row when ((new.kind <> 'stock') and (new.created_by is distinct from 'seed') and (new.updated_by is distinct from 'system'))
  execute function note_tenant_event('distribution', '', 'kind configuration status_override', 'kind name timeZone openAt closeAt supportsGuest admitRate admissionExpirationSeconds capacity maxAdmissions recycleExpiredAdmissions insideLimit standby admitBurst admissionRenewal grantsPerConsumer lobbyOpenAt loyaltyBiasEnabled loyaltyHeadStartSeconds drawAt winnerCount stockId continueSelectingUntilCompleted loyaltyWeight beacon settleAt auctionType currencyCode quantity autoExtendSeconds startPrice reservePrice minBidIncrement maxBid maxBidJump floorPrice priceDropAmount priceDropIntervalSeconds slotDurationMinutes slotsFrom slotsUntil bufferMinutes maxCapacityPerSlot locationId hours variantIds statusOverride', '', '');
create trigger mechanisms_update_noted after update on mechanisms
  for each row when ((new.kind <> 'stock') and (new.updated_by is distinct from 'system'))
  execute function note_tenant_event('distribution', '', 'kind configuration status_override', 'kind name timeZone openAt closeAt supportsGuest admitRate admissionExpirationSeconds capacity maxAdmissions recycleExpiredAdmissions insideLimit standby admitBurst admissionRenewal grantsPerConsumer lobbyOpenAt loyaltyBiasEnabled loyaltyHeadStartSeconds drawAt winnerCount stockId continueSelectingUntilCompleted loyaltyWeight beacon settleAt auctionType currencyCode quantity autoExtendSeconds startPrice reservePrice minBidIncrement maxBid maxBidJump floorPrice priceDropAmount priceDropIntervalSeconds slotDurationMinutes slotsFrom slotsUntil bufferMinutes maxCapacityPerSlot locationId hours variantIds statusOverride', '', '');
create trigger mechanisms_insert_stock_noted after insert on mechanisms
  for each row when ((new.kind = 'stock') and (new.created_by is distinct from 'seed'))
  execute function note_tenant_event('stock', '', 'configuration', 'name variantIds takers returnsCancelled lowAt onHand', '', '');
create trigger mechanisms_update_stock_noted after update on mechanisms
  for each row when ((new.kind = 'stock') and (new.updated_by is distinct from 'system') and ((new.configuration -> 'onHand') = (old.configuration -> 'onHand')))
  execute function note_tenant_event('stock', '', 'configuration', 'name variantIds takers returnsCancelled lowAt', '', '');
create trigger mechanisms_update_stock_adjusted after update on mechanisms
  for each row when ((new.kind = 'stock') and ((new.configuration -> 'onHand') is distinct from (old.configuration -> 'onHand')))
  execute function note_tenant_event('stock', 'adjusted', 'configuration', 'onHand adjustedFor', '', '');
create trigger mechanisms_update_stock_empty after update on mechanisms
  for each row when ((new.kind = 'stock') and ((new.configuration ->> 'level') = 'EMPTY') and ((old.configuration ->> 'level') <> 'EMPTY'))
  execute function note_tenant_event('stock', 'empty', 'configuration', 'level', 'record.name', '');
create trigger mechanisms_update_stock_low after update on mechanisms
  for each row when ((new.kind = 'stock') and ((new.configuration ->> 'level') = 'LOW') and ((old.configuration ->> 'level') = 'AVAILABLE'))
  execute function note_tenant_event('stock', 'low', 'configuration', 'level', 'record.name', '');
create trigger mechanisms_update_stock_refilled after update on mechanisms
  for each row when ((new.kind = 'stock') and ((old.configuration ->> 'level') in ('EMPTY', 'LOW')) and ((new.configuration ->> 'level') not in ('EMPTY', old.configuration ->> 'level')))
  execute function note_tenant_event('stock', 'refilled', 'configuration', 'level', 'record.name', '');
create trigger orders_insert_noted after insert on orders
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('order', '', 'consumer_id experience_id sequence_id distribution_id distribution_type external_id number status currency_code record total', 'consumerId experienceId sequenceId distributionId distributionType status currencyCode total items', 'consumer_id experience_id sequence_id distribution_id status currency_code total', '');
create trigger orders_update_noted after update on orders for each row
  execute function note_tenant_event('order', '', 'consumer_id experience_id sequence_id distribution_id distribution_type external_id number status currency_code record total', 'consumerId experienceId sequenceId distributionId distributionType status currencyCode total items', 'consumer_id experience_id sequence_id distribution_id status currency_code total', '');
create trigger receivers_insert_noted after insert on receivers
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('receiver', '', 'adapter description record', 'adapter description', '', '');
create trigger receivers_update_noted after update on receivers for each row
  execute function note_tenant_event('receiver', '', 'adapter description record', 'adapter description', '', '');
create trigger receivers_update_secret_rotated after update on receivers
  for each row when ((new.secret is distinct from old.secret) and (new.updated_at is distinct from old.updated_at))
  execute function note_tenant_event('receiver', 'secret_rotated', 'secret', '', '', '');
create trigger receivers_update_secret_sealed after update on receivers
  for each row when ((new.secret_sealed_by is distinct from old.secret_sealed_by) and (new.updated_at = old.updated_at))
  execute function note_tenant_event('receiver', 'secret_sealed', 'secret', '', '', '');
create trigger gates_insert_noted after insert on gates
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('gate', '', 'name record', 'name hosts failMode returnPath', '', '');
create trigger gates_update_noted after update on gates for each row
  execute function note_tenant_event('gate', '', 'name record', 'name hosts failMode returnPath', '', '');
create trigger gates_update_key_rotated after update on gates
  for each row when (new.key_hash is distinct from old.key_hash)
  execute function note_tenant_event('gate', 'key_rotated', 'key_display', '', '', '');
create trigger webhooks_insert_noted after insert on webhooks
  for each row when (new.created_by is distinct from 'seed')
  execute function note_tenant_event('webhook', '', 'url record', 'events description ordering schedule', '', '');
create trigger webhooks_update_disabled after update on webhooks
  for each row when ((new.disabled_reason is not null) and (old.disabled_reason is null))
  execute function note_tenant_event('webhook', 'disabled', 'disabled_reason', 'disabledReason', '', '');
create trigger webhooks_update_enabled after update on webhooks
  for each row when ((new.disabled_reason is null) and (old.disabled_reason is not null))
  execute function note_tenant_event('webhook', 'enabled', 'disabled_reason', 'disabledReason', '', '');
create trigger webhooks_update_noted after update on webhooks for each row
  execute function note_tenant_event('webhook', '', 'url record', 'events description ordering schedule', '', '');
create trigger webhooks_update_secret_rotated after update on webhooks
  for each row when ((new.secret is distinct from old.secret) and (new.updated_at is distinct from old.updated_at))
  execute function note_tenant_event('webhook', 'secret_rotated', 'secret', '', '', '');
create trigger webhooks_update_secret_sealed after update on webhooks
  for each row when ((new.secret_sealed_by is distinct from old.secret_sealed_by) and (new.updated_at = old.updated_at))
  execute function note_tenant_event('webhook', 'secret_sealed', 'secret', '', '', '');
create constraint trigger noted_events_numbered after insert on noted_events deferrable initially deferred for each row
  execute function number_tenant_events();
