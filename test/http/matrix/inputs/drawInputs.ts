/** Inputs of the operations on draws. */
import { Effect, Schedule } from "effect"
import { asServer } from "../../support/usherFixture.ts"
import type { MakeInput } from "../inputs.ts"
import { inputsOf } from "./mechanismInputs.ts"
import { byServer, call, type Side } from "../world.ts"

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** Makes the consumer win the draw. Returns its place. */
const win = Effect.fnUntraced(function* ({ consumerId, secretKey }: Side, id: string) {
  yield* byServer("consumer", { secretKey }, `/draws/${id}/enter`, undefined, consumerId)
  const past = new Date(Date.now() - 1_000).toISOString()
  yield* call("admin", {
    method: "PUT",
    path: `/api/draws/${id}`,
    headers: asServer(secretKey),
    body: { closeAt: past, drawAt: past }
  })
  const won = yield* call("consumer", {
    path: `/api/draws/${id}/status`,
    headers: asServer(secretKey, consumerId)
  }).pipe(
    Effect.repeat({ until: ({ body }) => body.status === "WON", schedule: Schedule.spaced("10 millis"), times: 500 })
  )
  return won.body
})

const settings = () => ({ winnerCount: 1, drawAt: inAnHour() })
const { on, forHolder, admin, record } = inputsOf("draws", "drawId", settings, win)

/** The inputs, by operation. */
export const drawInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/draws/:drawId": on({ status: 200 }),
  "GET /api/draws/:drawId/proof": on({ status: 200 }, "grant"),
  "POST /api/draws/:drawId/enter": on({ status: 200, guestStatus: 200 }),
  "POST /api/draws/:drawId/leave": on({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/draws/:drawId/status": on({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/draws/:drawId/events": on({ status: 200, guestStatus: 200 }, "end"),
  "POST /api/draws/:drawId/deny": forHolder({ reason: "ADMIN_ACTION" }),
  "POST /api/draws/:drawId/complete": forHolder(),
  "POST /api/draws/:drawId/validate": forHolder({ token: "" }),
  ...admin,
  "POST /api/draws/:id/draw": record()
}
