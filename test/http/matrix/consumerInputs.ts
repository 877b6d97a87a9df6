/** What the operations on consumers take. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Input, MakeInput } from "./inputs.ts"
import { byServer, type Side } from "./world.ts"

const email = () => `${randomUUID()}@example.com`

const made = (side: Side) =>
  Effect.map(byServer("admin", side, "/consumers", { email: email() }), ({ id }) => id as string)

/** An operation on a consumer of the own tenant. */
const onConsumer =
  (input: Pick<Input, "status" | "body">): MakeInput =>
  (own, { sides }) =>
    Effect.gen(function* () {
      const id = yield* made(own)
      const others = [yield* made(sides.test), yield* made(sides.foreign)]
      return { ...input, params: { id }, names: [{ own: id, others, unknown: randomUUID() }] }
    })

/** The inputs, by operation. */
export const consumerInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/consumers": () => Effect.succeed({ body: { email: email() }, status: 201 }),
  "GET /api/consumers": (own) => Effect.map(made(own), (id) => ({ query: "sortDir=desc", status: 200, secrets: [id] })),
  "POST /api/consumers/batch": (own) => {
    const address = email()
    return Effect.map(byServer("admin", own, "/consumers", { email: address }), ({ id }) => ({
      body: { consumers: [{ email: address, fullName: "Ann" }] },
      status: 200,
      secrets: [id as string]
    }))
  },
  "GET /api/consumers/:id": onConsumer({ status: 200 }),
  "PUT /api/consumers/:id": onConsumer({ status: 200, body: { fullName: "Ann" } }),
  "DELETE /api/consumers/:id": onConsumer({ status: 200 })
}
