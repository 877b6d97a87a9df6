/** The lists of messages and stopped addresses. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { byId, inserted, instant, type MakeList, request } from "./listRows.ts"

/** Messages, each to another address. None is removed before it is old. */
export const messages: MakeList = (as) =>
  Effect.succeed({
    path: "/messages",
    sorts: { sentAt: ({ sentAt }) => sentAt },
    idOf: byId,
    filter: "status=SENT",
    make: (n: number) =>
      inserted("sent_messages", {
        organization_id: as.tenant.organizationId,
        mode: as.tenant.mode,
        channel: "email",
        message_id: randomUUID(),
        id: randomUUID(),
        address: `row${n}@example.com`,
        purpose: "CODE",
        status: "SENT",
        sent_at: new Date(instant(n)),
        updated_at: new Date(instant(n))
      })
  })

/** Stopped addresses. They leave the list when they are lifted. */
export const stoppedAddresses: MakeList = Effect.fnUntraced(function* (as) {
  const receiver = yield* request(as, "POST", "/receivers", { adapter: "stripe", secret: "whsec_0123456789" })
  return {
    path: "/stopped-addresses",
    sorts: { stoppedAt: ({ stoppedAt }) => stoppedAt },
    idOf: byId,
    filter: "reason=BOUNCED",
    make: (n: number) =>
      inserted("stopped_addresses", {
        organization_id: as.tenant.organizationId,
        mode: as.tenant.mode,
        channel: "email",
        address: `${randomUUID()}@example.com`,
        reason: "BOUNCED",
        receiver_id: receiver.id,
        stopped_at: new Date(instant(n))
      }),
    archive: (id) => request(as, "DELETE", `/stopped-addresses/${id}`)
  }
})
