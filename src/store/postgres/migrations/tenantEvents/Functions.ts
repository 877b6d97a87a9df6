/** The functions that note the events of rows, and that number the events of a transaction. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { consumerEventFunction } from "./ConsumerTriggers.ts"

/** Fields longer than this, as JSON text, are named without their values. */
const valueLengthMax = 1_000

export const createFunctions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Returns the name of a column's field in the API.
  yield* sql`
    create function field_of(name text) returns text language sql immutable as $$
      select case name when 'access_code_hash' then 'accessCode'
        else lower(left(name, 1)) || substr(replace(initcap(replace(name, '_', ' ')), ' ', ''), 2) end
    $$`
  // Returns the value of a column. Totals are texts in the API.
  yield* sql`
    create function value_of(fields jsonb, name text) returns jsonb language sql immutable as $$
      select case name when 'total' then to_jsonb(trim_scale((fields ->> name)::numeric)::text) else fields -> name end
    $$`
  yield* sql`${sql.literal(changedFields)}`
  yield* sql`${sql.literal(noteTenantEvent)}`
  yield* sql`${sql.literal(consumerEventFunction("first"))}`
  yield* sql`${sql.literal(numberTenantEvents)}`
  yield* sql`
    create constraint trigger noted_events_numbered after insert on noted_events
    deferrable initially deferred for each row execute function number_tenant_events()`
})

/**
 * Returns the names of the fields that differ, and the values of those that are shown. Null if none differs. Null and
 * absent are the same. The members of settings are fields of their own. Of two fields with one name the later wins. A
 * loop takes a tenth of the time of a statement over all fields, of which few differ.
 */
const changedFields = `
  create function changed_fields(before jsonb, after jsonb, columns text[], shown text[]) returns jsonb
  language plpgsql immutable as $$
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
          if former <> 'null' and length(former::text) <= ${valueLengthMax} then
            was := was || jsonb_build_object(field, former);
          end if;
          if present <> 'null' and length(present::text) <= ${valueLengthMax} then
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
  end $$`

/**
 * Notes the event of a row. A write that does not stamp the row is the system's. The author of tables without stamps is
 * in the setting `usher.actor`, or else it is the operator. A change of an organization concerns both modes.
 */
const noteTenantEvent = `
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
            case when c like 'record.%' then after -> 'record' -> substr(c, 8) else value_of(after, c) end as value
          from unnest(string_to_array(tg_argv[4], ' ')) c
        ) found
        where found.value <> 'null' and length(found.value::text) <= ${valueLengthMax}
      ));
    end if;
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    select coalesce((after ->> 'organization_id')::uuid, new.id), tenant.mode,
      case when is_stamped then coalesce((after ->> 'updated_at')::timestamptz, (after ->> 'created_at')::timestamptz)
        else clock_timestamp() end,
      kind || '.' || action, actor, new.id, data
    from unnest(case when kind = 'organization' then array['live', 'test'] else array[after ->> 'mode'] end) as tenant (mode);
    return null;
  end $$`

/** Numbers all events of the transaction, when the first of their triggers fires at the commit. */
const numberTenantEvents = `
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
  end $$`
