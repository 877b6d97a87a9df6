/** Inputs of the operations on receivers. */
import { Effect } from "effect"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const body = { adapter: "stripe", secret: "whsec_0123456789" }

const made = (side: Side) => Effect.map(byServer("admin", side, "/receivers", body), ({ id }) => id as string)

/** An admin's operation on a receiver. */
const record = recordInput(made)

/** The inputs, by operation. */
export const receiverInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/receivers": () => Effect.succeed({ body, status: 201 }),
  "GET /api/receivers": (own) => Effect.map(made(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/receivers/:id": record(),
  "PUT /api/receivers/:id": record({ description: "Another" }),
  "DELETE /api/receivers/:id": record(),
  "POST /api/receivers/:id/restore": record(),
  "GET /api/receivers/:id/events": record()
}
