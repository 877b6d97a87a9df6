/** Inputs of the operations on timed releases. */
import type { MakeInput } from "./inputs.ts"
import { inputsOf } from "./mechanismInputs.ts"

const { on, forHolder, admin } = inputsOf("timed-releases", "timedReleaseId", { capacity: 10 })

/** The inputs, by operation. */
export const timedReleaseInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/timed-releases/:timedReleaseId": on({ status: 200 }),
  "POST /api/timed-releases/:timedReleaseId/enter": on({ status: 200, guestStatus: 200, body: {} }),
  "POST /api/timed-releases/:timedReleaseId/leave": on({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/timed-releases/:timedReleaseId/status": on({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/timed-releases/:timedReleaseId/events": on({ status: 200, guestStatus: 200 }, "end"),
  "POST /api/timed-releases/:timedReleaseId/deny": forHolder({ reason: "ADMIN_ACTION" }),
  "POST /api/timed-releases/:timedReleaseId/complete": forHolder(),
  "POST /api/timed-releases/:timedReleaseId/validate": forHolder({ token: "" }),
  ...admin
}
