/** The function that notes what happens to a consumer, and its triggers. */

/** The fields of consumers, of which only the names are stored. The event of a consumer has no values. */
const consumerFields = {
  type: "type",
  email: "email",
  phone: "phone",
  full_name: "fullName",
  name: "name",
  external_id: "externalId",
  loyalty_balance: "loyaltyBalance",
  attributes: "attributes",
  metadata: "metadata"
}

/** The difference between steps of the schema: since step 33 consumers can be erased. */
type Knowledge = "first" | "erasable"

const consumerChanged = (knowledge: Knowledge) =>
  [...Object.keys(consumerFields), "archived", ...(knowledge === "erasable" ? ["erased_at"] : [])]
    .map((column) => `new.${column} is distinct from old.${column}`)
    .join(" or ")

/**
 * Notes the event of a consumer, for each row of a batch in a tenth of the time. A guest that signs in is a new consumer.
 * A write without an author is the consumer's own.
 */
export const consumerEventFunction = (knowledge: Knowledge) => `
  create ${knowledge === "first" ? "" : "or replace "}function note_consumer_event() returns trigger language plpgsql as $$
  declare
    is_new boolean := tg_op = 'INSERT' or old.type = 'guest';
    changed text[];
    action text := 'created';
    is_stamped boolean := true;
  begin
    if is_new then
      changed := array[${Object.entries(consumerFields)
        .map(([column, field]) => `case when new.${column} is not null then '${field}' end`)
        .join(", ")}];
    else
      changed := array[${Object.entries(consumerFields)
        .map(([column, field]) => `case when new.${column} is distinct from old.${column} then '${field}' end`)
        .join(", ")}];
      is_stamped := new.updated_at is distinct from old.updated_at;
      action := case
        ${knowledge === "first" ? "" : "when new.erased_at is distinct from old.erased_at then 'erased'"}
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
  end $$`

/** Guests do not even call the function. */
const consumerInsertTrigger = `
  create trigger consumers_insert_noted after insert on consumers for each row
    when (new.type = 'authenticated' and new.created_by is distinct from 'seed') execute function note_consumer_event()`

export const consumerUpdateTrigger = (knowledge: Knowledge) => `
  create trigger consumers_update_noted after update on consumers for each row
    when (new.type = 'authenticated' and (${consumerChanged(knowledge)})) execute function note_consumer_event()`

export const consumerTriggers = [consumerInsertTrigger, consumerUpdateTrigger("first")]
