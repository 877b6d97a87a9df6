/** Inputs of the operations on webhooks. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const settings = () => ({ url: `https://localhost:8443/${randomUUID()}`, events: ["distribution.joined"] })

const made = (side: Side) => Effect.map(byServer("admin", side, "/webhooks", settings()), ({ id }) => id as string)

/** An admin's operation on a webhook. */
const record = recordInput(made)

/** The inputs, by operation. */
export const webhookInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/webhooks": () => Effect.succeed({ body: settings(), status: 201 }),
  "GET /api/webhooks": (own) => Effect.map(made(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/webhooks/:id": record(),
  "PUT /api/webhooks/:id": record({ description: "Another" }),
  "DELETE /api/webhooks/:id": record(),
  "POST /api/webhooks/:id/restore": record(),
  "POST /api/webhooks/:id/enable": record({ from: "now" }),
  "POST /api/webhooks/:id/disable": record(),
  "POST /api/webhooks/:id/secret/rotate": record({ overlapSeconds: 60 }),
  "POST /api/webhooks/:id/test": record(),
  "GET /api/webhooks/:id/deliveries": record(),
  "POST /api/webhooks/:id/replay": record({ from: "failed" }),
  "GET /api/event-types": () => Effect.succeed({ status: 200, strangerStatus: 200 })
}
