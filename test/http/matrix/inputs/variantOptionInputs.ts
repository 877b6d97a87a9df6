/** Inputs of the operations on variant options and their values. Each request has new options. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Input, MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"

const made = (side: Side) =>
  Effect.map(
    byServer("admin", side, "/variant-options", { name: "Size", values: [{ value: "S" }] }),
    ({ id, values }) => ({ optionId: id as string, valueId: values[0].id as string })
  )

/** An operation on an option of the own tenant, or on its value; `body` may contain the value's id. */
const on =
  (of: "option" | "value", input: Pick<Input, "status">, body?: (valueId: string) => object): MakeInput =>
  (own, { sides }) =>
    Effect.gen(function* () {
      const mine = yield* made(own)
      const others = [yield* made(sides.test), yield* made(sides.foreign)]
      const named = (key: keyof typeof mine) => ({
        own: mine[key],
        others: others.map((other) => other[key]),
        unknown: randomUUID()
      })
      return {
        ...input,
        params: { ...mine },
        names: of === "option" ? [named("optionId")] : [named("optionId"), named("valueId")],
        ...(body && { body: body(mine.valueId) })
      }
    })

/** The inputs, by operation. */
export const variantOptionInputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/variant-options": () => Effect.succeed({ body: { name: "Size", values: [{ value: "S" }] }, status: 201 }),
  "GET /api/variant-options": (own) => Effect.map(made(own), ({ optionId }) => ({ status: 200, secrets: [optionId] })),
  "GET /api/variant-options/:optionId": on("option", { status: 200 }),
  "PUT /api/variant-options/:optionId": on("option", { status: 200 }, () => ({ name: "Colour" })),
  "DELETE /api/variant-options/:optionId": on("option", { status: 200 }),
  "POST /api/variant-options/:optionId/restore": on("option", { status: 200 }),
  "GET /api/variant-options/:optionId/values": on("option", { status: 200 }),
  "POST /api/variant-options/:optionId/values": on("option", { status: 201 }, () => ({ value: "M" })),
  "PUT /api/variant-options/:optionId/values/reorder": on("option", { status: 200 }, (id) => ({ valueOrder: [id] })),
  "PUT /api/variant-options/:optionId/values/:valueId": on("value", { status: 200 }, () => ({ value: "XS" })),
  "DELETE /api/variant-options/:optionId/values/:valueId": on("value", { status: 200 }),
  "POST /api/variant-options/:optionId/values/:valueId/restore": on("value", { status: 200 })
}
