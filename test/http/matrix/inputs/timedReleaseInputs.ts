/** Inputs of the operations on timed releases and waitlists. */
import { Effect } from "effect"
import type { MakeInput } from "../inputs.ts"
import { byServer } from "../world.ts"
import { inputsOf } from "./mechanismInputs.ts"

const releases = inputsOf("timed-releases", "timedReleaseId", () => ({ capacity: 10 }))
/** Its members wait. None has an offer. */
const waitlists = inputsOf(
  "waitlists",
  "waitlistId",
  () => ({}),
  (own, id) =>
    Effect.as(byServer("consumer", own, `/waitlists/${id}/enter`, undefined, own.consumerId), {
      admissionGrant: "none"
    })
)

/** The inputs, by operation. */
export const timedReleaseInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/timed-releases/:timedReleaseId": releases.on({ status: 200 }),
  "POST /api/timed-releases/:timedReleaseId/enter": releases.on({ status: 200, guestStatus: 200, body: {} }),
  "POST /api/timed-releases/:timedReleaseId/leave": releases.on({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/timed-releases/:timedReleaseId/status": releases.on({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/timed-releases/:timedReleaseId/events": releases.on({ status: 200, guestStatus: 200 }, "end"),
  "POST /api/timed-releases/:timedReleaseId/deny": releases.forHolder({ reason: "ADMIN_ACTION" }),
  "POST /api/timed-releases/:timedReleaseId/complete": releases.forHolder(),
  "POST /api/timed-releases/:timedReleaseId/validate": releases.forHolder({ token: "" }),
  ...releases.admin
}

/** The inputs, by operation. */
export const waitlistInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/waitlists/:waitlistId": waitlists.on({ status: 200 }),
  "POST /api/waitlists/:waitlistId/enter": waitlists.on({ status: 200, guestStatus: 200 }),
  "POST /api/waitlists/:waitlistId/leave": waitlists.on({ status: 200, guestStatus: 409 }, "enter"),
  "DELETE /api/waitlists/:waitlistId/leave": waitlists.on({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/waitlists/:waitlistId/status": waitlists.on({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/waitlists/:waitlistId/events": waitlists.on({ status: 200, guestStatus: 200 }, "end"),
  "POST /api/waitlists/:waitlistId/deny": waitlists.forHolder({ reason: "ADMIN_ACTION" }),
  "POST /api/waitlists/:waitlistId/complete": waitlists.forHolder({}, 409),
  "POST /api/waitlists/:waitlistId/validate": waitlists.forHolder({ token: "" }),
  ...waitlists.admin
}
