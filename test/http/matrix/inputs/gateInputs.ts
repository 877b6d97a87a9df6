// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** Inputs of the operations on gates. */
import { Effect } from "effect"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const bodyOf = ({ queueId }: Side) => ({
  name: "Shop",
  hosts: ["shop.example"],
  rules: [{ when: { pathPrefix: "/checkout" }, then: { queueId } }]
})

const made = (side: Side) => Effect.map(byServer("admin", side, "/gates", bodyOf(side)), ({ id }) => id as string)

/** An admin's operation on a gate. */
const record = recordInput(made)

/** The inputs, by operation. */
export const gateInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/gates": (own, { sides }) =>
    Effect.succeed({
      body: bodyOf(own),
      status: 201,
      names: [
        {
          own: own.queueId,
          others: [sides.test.queueId, sides.foreign.queueId],
          unknown: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
        }
      ]
    }),
  "GET /api/gates": (own) => Effect.map(made(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/gates/:id": record(),
  "PUT /api/gates/:id": record({ name: "Another" }),
  "DELETE /api/gates/:id": record(),
  "POST /api/gates/:id/restore": record(),
  "POST /api/gates/:id/rotate-key": record(),
  "GET /api/gates/:id/instances": record(),
  "POST /api/gates/:id/test": record({ method: "GET", url: "https://shop.example/checkout" }),
  "GET /api/gates/:gateId": inField(record()),
  "GET /api/gates/:gateId/ended": inField(record())
}

/** The same operation of the Consumer API, whose parameter has another name. */
function inField(make: MakeInput): MakeInput {
  return (own, world) =>
    Effect.map(make(own, world), ({ params, ...input }) => ({ ...input, params: { gateId: params!["id"]! } }))
}
