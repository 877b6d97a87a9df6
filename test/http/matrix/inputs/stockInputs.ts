/** Inputs of the operations on stocks. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"
import { recordInput } from "./recordInput.ts"

const aVariant = Effect.fnUntraced(function* (side: Side) {
  const { id: productId } = yield* byServer("admin", side, "/products", { name: "Sneaker" })
  const { id } = yield* byServer("admin", side, "/variants", { productId, inventoryQuantity: 3 })
  return id as string
})

const made = Effect.fnUntraced(function* (side: Side) {
  const variantIds = [yield* aVariant(side)]
  const { id } = yield* byServer("admin", side, "/stocks", { name: "Pairs", variantIds })
  return id as string
})

/** An admin's operation on a stock. */
const record = recordInput(made)

/** The inputs, by operation. */
export const stockInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/stocks": (own, { sides }) =>
    Effect.gen(function* () {
      const variantId = yield* aVariant(own)
      const others = [yield* aVariant(sides.test), yield* aVariant(sides.foreign)]
      return {
        body: { name: "Pairs", variantIds: [variantId] },
        status: 201,
        names: [{ own: variantId, others, unknown: randomUUID() }]
      }
    }),
  "GET /api/stocks": (own) => Effect.map(made(own), (id) => ({ status: 200, strangerStatus: 200, secrets: [id] })),
  "GET /api/stocks/:id": record(),
  "PUT /api/stocks/:id": record({ name: "Another" }),
  "DELETE /api/stocks/:id": record(),
  "POST /api/stocks/:id/adjust": record({ by: 1, reason: "DELIVERED" }),
  "GET /api/stocks/:id/history": record()
}
