/** Inputs of the operations on messages and stopped addresses. Both come from deliveries and providers, not from the API. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

/** Inserts a row for the tenant of a new receiver. Returns the row's id. */
const made = (rowOf: (sql: SqlClient.SqlClient, id: string, receiverId: string) => Effect.Effect<unknown, unknown>) =>
  Effect.fnUntraced(function* (side: Side) {
    const receiver = yield* byServer("admin", side, "/receivers", { adapter: "standard", secret: "0123456789abcdef" })
    const id = randomUUID()
    yield* Effect.orDie(rowOf(yield* SqlClient.SqlClient, id, receiver.id))
    return id
  })

const aMessage = made(
  (sql, id, receiverId) => sql`
    insert into sent_messages
      (organization_id, mode, channel, message_id, status, sent_at, updated_at, id, address, purpose)
    select organization_id, mode, 'email', ${id}, 'SENT', now(), now(), ${id}, ${`${id}@example.com`}, 'CODE'
    from receivers where id = ${receiverId}`
)

const aStop = made(
  (sql, id, receiverId) => sql`
    insert into stopped_addresses (organization_id, mode, channel, address, reason, receiver_id, stopped_at, id)
    select organization_id, mode, 'email', ${`${id}@example.com`}, 'BOUNCED', id, now(), ${id}
    from receivers where id = ${receiverId}`
)

const listed =
  (make: typeof aStop): MakeInput =>
  (own) =>
    Effect.map(make(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] }))

/** The inputs, by operation. */
export const messageInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/messages": listed(aMessage),
  "GET /api/messages/:id": recordInput(aMessage)(),
  "GET /api/stopped-addresses": listed(aStop),
  "GET /api/stopped-addresses/:id": recordInput(aStop)(),
  "DELETE /api/stopped-addresses/:id": recordInput(aStop)()
}
