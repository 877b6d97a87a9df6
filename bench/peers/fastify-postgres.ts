/**
 * The plain first version of a queue: Fastify and `pg`, with a transaction of a few plain statements for each entry.
 *
 * Each queue has a sequence that numbers its entries. A position is the entry's number, less the entries admitted from
 * the head, less the earlier entries that left from the middle. It needs no count over the queue.
 */
import type { PoolClient } from "pg"
import { PostgresStore } from "./postgres.ts"
import { queued, serve, type Place } from "./Peer.ts"

interface Entry {
  readonly number: string
  readonly status: string
  readonly entered_at: Date
}

/** The open queue, with the consumer's place in it if there is one. */
interface Queue extends Partial<Entry> {
  readonly admit_rate: number
  readonly head_number: string
}

const queueStatement = `
  select admit_rate, head_number, number, place.status, entered_at
  from queues queue left join places place on place.queue_id = queue.id and place.consumer_id = $3
  where queue.id = $1 and organization_id = $2 and status_override is null and (open_at is null or open_at <= now())
  for share of queue`

const insertStatement = `
  insert into places (queue_id, consumer_id, number, status, entered_at)
  values ($1::uuid, $2, nextval(('queue_' || replace($1::uuid::text, '-', ''))::regclass), 'QUEUED', now())
  on conflict (queue_id, consumer_id) do update
    set number = excluded.number, status = excluded.status, entered_at = excluded.entered_at
    where places.status = 'LEFT'
  returning number, status, entered_at`

const departedStatement = `
  select count(*)::int4 as departed from departures where queue_id = $1 and number > $2 and number < $3`

class EntryStore extends PostgresStore {
  override async enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const client = await this.pool.connect()
    try {
      await client.query("begin")
      const place = await this.enterWithin(client, queueId, organizationId, consumerId)
      await client.query("commit")
      return place
    } catch (error) {
      await client.query("rollback")
      throw error
    } finally {
      client.release()
    }
  }

  private async enterWithin(
    client: PoolClient,
    queueId: string,
    organizationId: string,
    consumerId: string
  ): Promise<Place | undefined> {
    const queues = await client.query<Queue>({
      name: "queue",
      text: queueStatement,
      values: [queueId, organizationId, consumerId]
    })
    const queue = queues.rows[0]
    if (queue === undefined) return undefined
    const entry = isPresent(queue) ? queue : await this.insert(client, queueId, consumerId)
    // A concurrent request of the same consumer was first.
    if (entry === undefined) return this.enterWithin(client, queueId, organizationId, consumerId)
    if (entry.status !== "QUEUED") return { status: entry.status, enteredAt: entry.entered_at.toISOString() }
    const { rows } = await client.query<{ readonly departed: number }>({
      name: "departed",
      text: departedStatement,
      values: [queueId, queue.head_number, entry.number]
    })
    const position = Number(entry.number) - Number(queue.head_number) - rows[0]!.departed
    return queued(position, queue.admit_rate, entry.entered_at)
  }

  private async insert(client: PoolClient, queueId: string, consumerId: string): Promise<Entry | undefined> {
    const inserted = await client.query<Entry>({ name: "insert", text: insertStatement, values: [queueId, consumerId] })
    return inserted.rows[0]
  }
}

function isPresent(queue: Queue): queue is Queue & Entry {
  return typeof queue.status === "string" && queue.status !== "LEFT"
}

await serve(new EntryStore())
