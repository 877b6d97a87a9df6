/**
 * A queue on `pg-boss`: an entry is a job, under the consumer's id, in a partition of its own for the queue. A job has no
 * place in line, so each job carries the number of its entry, from a sequence. The position is that number, less the
 * entries admitted from the head, less the earlier entries that left from the middle.
 */
import { Pool } from "pg"
import { type JobWithMetadata, PgBoss } from "pg-boss"
import { queued, serve, setting, type Place, type Store } from "./Peer.ts"

/** What an entry's job carries. */
interface Entry {
  readonly number: number
}

interface Queue {
  readonly admit_rate: number
  readonly head_number: string
}

const queueStatement = `
  select admit_rate, head_number from queues
  where id = $1 and organization_id = $2 and status_override is null and (open_at is null or open_at <= now())`

/** Takes a number for an entry. */
const numberStatement = `select nextval(('queue_' || replace($1::text, '-', ''))::regclass)::int4 as number`

const departedStatement = `
  select count(*)::int4 as departed from departures where queue_id = $1 and number > $2 and number < $3`

/** How long a queue's row may be remembered. */
const queueMillisMax = 1_000

class JobStore implements Store {
  private readonly pool: Pool
  private readonly boss: PgBoss
  private readonly entering = new Map<string, Promise<Place | undefined>>()
  private readonly queues = new Map<string, { readonly queue: Queue; readonly until: number }>()

  constructor() {
    const size = Number(setting("POOL_SIZE"))
    const connectionString = setting("DATABASE_URL")
    this.pool = new Pool({ connectionString, max: size, min: size })
    // One pool for both, as the documentation recommends where an application has one.
    const db = { executeSql: (text: string, values?: Array<unknown>) => this.pool.query(text, values) }
    this.boss = new PgBoss({ db, schedule: false })
    this.boss.on("error", (error) => process.stderr.write(`${String(error)}\n`))
  }

  async open(): Promise<void> {
    await this.boss.start()
  }

  /** Requests of one consumer at the same time share an entry. Otherwise each took a number, and the line had gaps. */
  enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const name = `${queueId} ${consumerId}`
    const known = this.entering.get(name)
    if (known !== undefined) return known
    const entry = this.enterOnce(queueId, organizationId, consumerId).finally(() => this.entering.delete(name))
    this.entering.set(name, entry)
    return entry
  }

  private async enterOnce(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const queue = await this.queue(queueId, organizationId)
    if (queue === undefined) return undefined
    const present = await this.boss.getJobById<Entry>(queueId, consumerId)
    if (present !== null && present.state !== "cancelled") return this.place(queueId, queue, present)
    if (present !== null) await this.boss.deleteJob(queueId, consumerId)
    const { rows } = await this.pool.query<Entry>({ name: "number", text: numberStatement, values: [queueId] })
    const { number } = rows[0]!
    const id = await this.boss.send(queueId, { number }, { id: consumerId })
    // Another process was first.
    if (id === null) return this.status(queueId, organizationId, consumerId)
    return queued(await this.position(queueId, queue, number), queue.admit_rate, new Date())
  }

  async leave(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const queue = await this.queue(queueId, organizationId)
    if (queue === undefined) return undefined
    const job = await this.boss.getJobById<Entry>(queueId, consumerId)
    if (job?.state === "created") {
      await this.boss.cancel(queueId, consumerId)
      const departure = "insert into departures (queue_id, number) values ($1, $2) on conflict do nothing"
      await this.pool.query(departure, [queueId, job.data.number])
    }
    return this.status(queueId, organizationId, consumerId)
  }

  async status(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const queue = await this.queue(queueId, organizationId)
    if (queue === undefined) return undefined
    const job = await this.boss.getJobById<Entry>(queueId, consumerId)
    return job === null ? { status: "NOT_QUEUED" } : this.place(queueId, queue, job)
  }

  async close(): Promise<void> {
    await this.boss.stop({ graceful: false })
    await this.pool.end()
  }

  /** Returns the queue's row. It is remembered for a moment, so that an entry does not read it each time. */
  private async queue(queueId: string, organizationId: string): Promise<Queue | undefined> {
    const known = this.queues.get(queueId)
    if (known !== undefined && known.until > Date.now()) return known.queue
    const { rows } = await this.pool.query<Queue>(queueStatement, [queueId, organizationId])
    const [queue] = rows
    if (queue !== undefined) this.queues.set(queueId, { queue, until: Date.now() + queueMillisMax })
    return queue
  }

  private async place(queueId: string, queue: Queue, job: JobWithMetadata<Entry>): Promise<Place> {
    if (job.state !== "created") return { status: "LEFT", enteredAt: job.createdOn.toISOString() }
    return queued(await this.position(queueId, queue, job.data.number), queue.admit_rate, job.createdOn)
  }

  private async position(queueId: string, queue: Queue, number: number): Promise<number> {
    const values = [queueId, queue.head_number, number]
    const { rows } = await this.pool.query<{ departed: number }>({ name: "departed", text: departedStatement, values })
    return number - Number(queue.head_number) - rows[0]!.departed
  }
}

const store = new JobStore()
await store.open()
await serve(store)
