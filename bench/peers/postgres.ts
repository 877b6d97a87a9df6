/** The operations that the peers with places in a table share: leave and status. */
import { Pool } from "pg"
import { queued, type Place, setting, type Store } from "./Peer.ts"

export interface Row {
  readonly status: string
  readonly position: number
  readonly entered_at: Date
  readonly admit_rate: number
}

const leaveStatement = `
  with gone as (
    update places set status = 'LEFT'
    where queue_id = $1 and consumer_id = $3 and status = 'QUEUED'
      and exists (select from queues where id = $1 and organization_id = $2)
    returning queue_id, number
  )
  insert into departures (queue_id, number) select queue_id, number from gone`

const statusStatement = `
  select place.status, place.entered_at, queue.admit_rate,
    (place.number - queue.head_number - (
      select count(*) from departures where queue_id = $1 and number > queue.head_number and number < place.number
    ))::int4 as position
  from queues queue left join places place on place.queue_id = queue.id and place.consumer_id = $3
  where queue.id = $1 and queue.organization_id = $2`

/** Their store, without the entry, in which they differ. */
export abstract class PostgresStore implements Store {
  protected readonly pool: Pool

  constructor() {
    const size = Number(setting("POOL_SIZE"))
    this.pool = new Pool({ connectionString: setting("DATABASE_URL"), max: size, min: size })
  }

  abstract enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined>

  async leave(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    await this.pool.query({ name: "leave", text: leaveStatement, values: [queueId, organizationId, consumerId] })
    return this.status(queueId, organizationId, consumerId)
  }

  async status(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const query = { name: "status", text: statusStatement, values: [queueId, organizationId, consumerId] }
    const { rows } = await this.pool.query<Row | { readonly status: null }>(query)
    const row = rows[0]
    return row === undefined ? undefined : row.status === null ? { status: "NOT_QUEUED" } : view(row)
  }

  close(): Promise<void> {
    return this.pool.end()
  }
}

export function view(row: Row): Place {
  return row.status === "QUEUED"
    ? queued(row.position, row.admit_rate, row.entered_at)
    : { status: row.status, enteredAt: row.entered_at.toISOString() }
}
