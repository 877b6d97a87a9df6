/**
 * The peer `fastify-postgres` after tuning: an entry is one prepared statement, and so one round trip and one
 * transaction.
 *
 * Each queue has a sequence that numbers its entries, so entries do not wait for each other's commits. A position is
 * the entry's number, less the entries admitted from the head, less the earlier entries that left from the middle. It
 * needs no count over the queue.
 */
import { enterStatement } from "./enterStatement.ts"
import { PostgresStore, type Row, view } from "./postgres.ts"
import { serve, type Place } from "./Peer.ts"

class EntryStore extends PostgresStore {
  override async enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    const query = { name: "enter", text: enterStatement, values: [queueId, organizationId, consumerId] }
    const { rows } = await this.pool.query<Row>(query)
    // No row: there is no such queue, or a concurrent request of the same consumer won and its row is visible only now.
    return rows[0] === undefined ? this.status(queueId, organizationId, consumerId) : view(rows[0])
  }
}

await serve(new EntryStore())
