/** Inputs of the operations on gates. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { asServer } from "../../support/usherFixture.ts"
import { byServer, call, gateBody, queueOf, type Side, type World } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const made = (side: Side) => Effect.map(byServer("admin", side, "/gates", gateBody(side)), ({ id }) => id as string)

/** An admin's operation on a gate. */
const record = recordInput(made)

/** The inputs, by operation. */
export const gateInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/gates": (own, { sides }) =>
    Effect.succeed({
      body: gateBody(own),
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
  "POST /api/gates/:id/test": record({ method: "GET", url: "https://shop.example/checkout" }),
  "GET /api/gates/:gateId": ofGate,
  "GET /api/gates/:gateId/ended": ofGate,
  "POST /api/queues/:queueId/renew": (own, { sides }) =>
    Effect.gen(function* () {
      const { queueId } = yield* queueOf(own, { admissionRenewal: { idleSeconds: 60, maxSeconds: 600 } })
      const rules = [...gateBody(own).rules, ...gateBody({ queueId }).rules]
      yield* call("admin", {
        method: "PUT",
        path: `/api/gates/${own.gateId}`,
        headers: asServer(own.secretKey),
        body: { rules }
      })
      return {
        params: { queueId },
        body: { grants: ["a.b.c"] },
        status: 200,
        names: [{ own: queueId, others: [sides.test.queueId, sides.foreign.queueId], unknown: randomUUID() }]
      }
    })
}

/** The gate's own operation. */
function ofGate(own: Side, { sides }: World): ReturnType<MakeInput> {
  const names = [{ own: own.gateId, others: [sides.test.gateId, sides.foreign.gateId], unknown: randomUUID() }]
  return Effect.succeed({ params: { gateId: own.gateId }, names, status: 200 })
}
