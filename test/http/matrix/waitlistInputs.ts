/** Inputs of the operations on waitlists. */
import type { MakeInput } from "./inputs.ts"
import { inputsOf } from "./mechanismInputs.ts"

const { on, admin } = inputsOf("waitlists", "waitlistId", {})

/** The inputs, by operation. */
export const waitlistInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/waitlists/:waitlistId": on({ status: 200 }),
  "POST /api/waitlists/:waitlistId/enter": on({ status: 200, guestStatus: 200 }),
  "POST /api/waitlists/:waitlistId/leave": on({ status: 200, guestStatus: 409 }, "enter"),
  "DELETE /api/waitlists/:waitlistId/leave": on({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/waitlists/:waitlistId/status": on({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/waitlists/:waitlistId/events": on({ status: 200, guestStatus: 200 }, "end"),
  ...admin
}
