/**
 * A queue on DBOS: an entry is a workflow with one step, the statement of `fastify-postgres-tuned`. DBOS records the
 * workflow, the step's result and the end, each on disk before it goes on. The workflow's id is the consumer's attempt to
 * enter, so concurrent requests of one consumer run it once.
 */
import { DBOS } from "@dbos-inc/dbos-sdk"
import { enterStatement } from "./enterStatement.ts"
import { PostgresStore, type Row, view } from "./postgres.ts"
import { serve, setting, type Place } from "./Peer.ts"

class WorkflowStore extends PostgresStore {
  private readonly workflow = DBOS.registerWorkflow(
    (queueId: string, organizationId: string, consumerId: string) =>
      DBOS.runStep(() => this.insert(queueId, organizationId, consumerId), { name: "enter" }),
    { name: "enter" }
  )

  async open(): Promise<void> {
    DBOS.setConfig({
      name: "bench",
      systemDatabasePool: this.pool,
      systemDatabaseUrl: setting("DATABASE_URL"),
      logLevel: "error"
    })
    await DBOS.launch()
  }

  override async enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const present = await this.status(queueId, organizationId, consumerId)
    if (present === undefined || present.status === "QUEUED") return present
    const workflowID = `${queueId}:${consumerId}:${present.enteredAt ?? "first"}`
    const handle = await DBOS.startWorkflow(this.workflow, { workflowID })(queueId, organizationId, consumerId)
    return (await handle.getResult()) ?? undefined
  }

  override async close(): Promise<void> {
    await DBOS.shutdown()
    await super.close()
  }

  /** Returns null if there is no such open queue. */
  private async insert(queueId: string, organizationId: string, consumerId: string): Promise<Place | null> {
    const query = { name: "enter", text: enterStatement, values: [queueId, organizationId, consumerId] }
    const { rows } = await this.pool.query<Row>(query)
    return rows[0] === undefined ? null : view(rows[0])
  }
}

const store = new WorkflowStore()
await store.open()
await serve(store)
