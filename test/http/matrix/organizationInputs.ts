/** Inputs of the operations on the organization. */
import { Effect } from "effect"
import type { MakeInput } from "./inputs.ts"

/** The inputs, by operation. */
export const organizationInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/organizations/me": () => Effect.succeed({ status: 200 }),
  "PUT /api/organizations/me": () => Effect.succeed({ body: { name: "Another" }, status: 200, testStatus: 403 })
}
