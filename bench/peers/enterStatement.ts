/**
 * An entry in one statement. A consumer who is present gets the place as it is.
 *
 * This reads the queue's row without a lock, so an entry that runs while the queue ends may still succeed. Usher does not
 * allow that. A lock on the row would serialize all entries of a queue.
 */
export const enterStatement = `
  with queue as (
    select id, admit_rate, head_number from queues
    where id = $1 and organization_id = $2 and status_override is null and (open_at is null or open_at <= now())
  ), present as (
    select number, status, entered_at from places where queue_id = $1 and consumer_id = $3 and status <> 'LEFT'
  ), entered as (
    insert into places (queue_id, consumer_id, number, status, entered_at)
    select id, $3, nextval(('queue_' || replace($1::text, '-', ''))::regclass), 'QUEUED', now()
    from queue where not exists (select from present)
    on conflict (queue_id, consumer_id) do update
      set number = excluded.number, status = excluded.status, entered_at = excluded.entered_at
      where places.status = 'LEFT'
    returning number, status, entered_at
  ), place as (
    select * from present union all select * from entered
  )
  select place.status, place.entered_at, queue.admit_rate,
    (place.number - queue.head_number - (
      select count(*) from departures where queue_id = $1 and number > queue.head_number and number < place.number
    ))::int4 as position
  from queue, place`
