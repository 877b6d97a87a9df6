/** Inputs of the operations on draws. */
import { Effect, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { asServer } from "../support/usherFixture.ts"
import type { Input, MakeInput, Name } from "./inputs.ts"
import { byServer, call, type Side, type World } from "./world.ts"

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

const settings = () => ({ name: "Raffle", winnerCount: 1, drawAt: inAnHour() })

const made = (side: Side) =>
  Effect.map(
    byServer("admin", side, "/draws", { ...settings(), sequenceId: side.sequenceId }),
    ({ id }) => id as string
  )

/** Creates draws in all tenants. Returns the name of the own one. */
const drawNamed = Effect.fnUntraced(function* (own: Side, { sides }: World) {
  const others = [yield* made(sides.test), yield* made(sides.foreign)]
  return { own: yield* made(own), others, unknown: randomUUID() } satisfies Name
})

/** Enters the consumer into the draw, or makes it win. Returns its grant. */
const brought = Effect.fnUntraced(function* (own: Side, id: string, where: "enter" | "win") {
  const { consumerId } = own
  yield* byServer("consumer", own, `/draws/${id}/enter`, undefined, consumerId)
  if (where === "enter") return ""
  const past = new Date(Date.now() - 1_000).toISOString()
  yield* call("admin", {
    method: "PUT",
    path: `/api/draws/${id}`,
    headers: asServer(own.secretKey),
    body: { closeAt: past, drawAt: past }
  })
  const won = yield* call("consumer", {
    path: `/api/draws/${id}/status`,
    headers: asServer(own.secretKey, consumerId)
  }).pipe(
    Effect.repeat({ until: ({ body }) => body.status === "WON", schedule: Schedule.spaced("10 millis"), times: 500 })
  )
  return won.body.admissionGrant as string
})

/** An operation on a draw, for any caller or its consumer; `before` is the state to reach first. */
const onDraw =
  (input: Omit<Input, "params" | "names">, before?: "enter" | "win" | "end"): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const draw = yield* drawNamed(own, world)
      if (before === "end") yield* byServer("admin", own, `/draws/${draw.own}/end`, {})
      else if (before !== undefined) yield* brought(own, draw.own, before)
      return { ...input, params: { drawId: draw.own }, names: [draw] }
    })

/** The server's operation on a draw, for a consumer that has won. */
const forWinner =
  (more: object = {}): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const draw = yield* drawNamed(own, world)
      const { consumerId } = own
      const token = yield* brought(own, draw.own, "win")
      const body = { consumerId, ...more, ...("token" in more && { token }) }
      const others = [world.sides.test.consumerId, world.sides.foreign.consumerId]
      const names = [draw, { own: consumerId, others, unknown: randomUUID() }]
      return { params: { drawId: draw.own }, body, names, status: 200 }
    })

/** An admin's operation on a draw. */
const record =
  (body?: object): MakeInput =>
  (own, world) =>
    Effect.map(drawNamed(own, world), (draw) => ({
      params: { id: draw.own },
      names: [draw],
      status: 200,
      ...(body && { body })
    }))

const sequenceNamed = (own: Side, { sides }: World): Name => ({
  own: own.sequenceId,
  others: [sides.test.sequenceId, sides.foreign.sequenceId],
  unknown: randomUUID()
})

/** The inputs, by operation. */
export const drawInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/draws/:drawId": onDraw({ status: 200 }),
  "GET /api/draws/:drawId/proof": onDraw({ status: 200 }, "win"),
  "POST /api/draws/:drawId/enter": onDraw({ status: 200, guestStatus: 200 }),
  "POST /api/draws/:drawId/leave": onDraw({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/draws/:drawId/status": onDraw({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/draws/:drawId/events": onDraw({ status: 200, guestStatus: 200 }, "end"),
  "POST /api/draws/:drawId/deny": forWinner({ reason: "ADMIN_ACTION" }),
  "POST /api/draws/:drawId/complete": forWinner(),
  "POST /api/draws/:drawId/validate": forWinner({ token: "" }),
  "POST /api/draws": (own, world) =>
    Effect.succeed({
      body: { ...settings(), sequenceId: own.sequenceId },
      status: 201,
      names: [sequenceNamed(own, world)]
    }),
  "GET /api/draws": (own, world) =>
    Effect.succeed({
      query: `sequenceId=${own.sequenceId}`,
      status: 200,
      strangerStatus: 200,
      names: [sequenceNamed(own, world)]
    }),
  "GET /api/draws/:id": record(),
  "PUT /api/draws/:id": record({ name: "Another" }),
  "DELETE /api/draws/:id": record(),
  "POST /api/draws/:id/end": record()
}
