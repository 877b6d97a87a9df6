/**
 * The same as `fastify-postgres`, by a team that has tuned it: an entry is one prepared statement, hence one round trip and
 * one transaction.
 *
 * Each queue has a sequence that numbers its entries, so that entries do not wait for one another's commits. A position
 * is the entry's number, less those admitted from the head, less those ahead that left from the middle; no count over
 * the queue is needed.
 */
import { Pool } from "pg"
import { leaveStatement, type Row, statusIn, view } from "./postgres.ts"
import { serve, setting, type Place, type Store } from "./Peer.ts"

// The queue's row is read without a lock: an entry that runs beside the queue's end may still slip in, which Usher
// would not allow; holding the row would put all entries of a queue in single file.
const enterStatement = `
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

class PostgresStore implements Store {
  private readonly pool: Pool

  constructor() {
    const size = Number(setting("POOL_SIZE"))
    this.pool = new Pool({ connectionString: setting("DATABASE_URL"), max: size, min: size })
  }

  async enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const query = { name: "enter", text: enterStatement, values: [queueId, organizationId, consumerId] }
    const { rows } = await this.pool.query<Row>(query)
    // No row: no such queue, or the same consumer's other request won the race and is visible only now.
    return rows[0] === undefined ? this.status(queueId, organizationId, consumerId) : view(rows[0])
  }

  async leave(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    await this.pool.query({ name: "leave", text: leaveStatement, values: [queueId, organizationId, consumerId] })
    return this.status(queueId, organizationId, consumerId)
  }

  status(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    return statusIn(this.pool, queueId, organizationId, consumerId)
  }

  close(): Promise<void> {
    return this.pool.end()
  }
}

await serve(new PostgresStore())
