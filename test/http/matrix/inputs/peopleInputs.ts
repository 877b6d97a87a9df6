/** Inputs of the operations on people. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const body = () => ({ email: `${randomUUID()}@example.com`, role: "viewer" })

const made = (side: Side) => Effect.map(byServer("admin", side, "/people", body()), ({ id }) => id as string)

/** An admin's operation on a person. */
const record = recordInput(made)

/** The inputs, by operation. */
export const peopleInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/people": () => Effect.succeed({ body: body(), status: 201 }),
  "GET /api/people": (own) => Effect.map(made(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/people/:id": record(),
  "PUT /api/people/:id": record({ role: "admin" }),
  "DELETE /api/people/:id": record(),
  "POST /api/people/:id/restore": record()
}
