/** Inputs of the operations on consumers. */
import { Effect } from "effect"
import { decodeJwt } from "jose"
import { randomUUID } from "node:crypto"
import type { Input, MakeInput } from "../inputs.ts"
import { byServer, guestOf, type Side } from "../world.ts"

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

const sessionOf = ({ accessToken }: Pick<Side, "accessToken">) => decodeJwt(accessToken)["sessionId"] as string

/** A session of a new guest of the tenant, with the guest's id. The consumer's own session stays unchanged. */
const aSession: MakeInput = ({ publishableKey }, { sides }) =>
  Effect.map(guestOf(publishableKey), (guest) => ({
    params: { id: guest.consumerId, sessionId: sessionOf(guest) },
    status: 200,
    names: [
      { own: guest.consumerId, others: [sides.test.consumerId, sides.foreign.consumerId], unknown: randomUUID() },
      { own: sessionOf(guest), others: [sessionOf(sides.test), sessionOf(sides.foreign)], unknown: randomUUID() }
    ]
  }))

/** The session of the calling consumer. */
const ownSession: MakeInput = (own, { sides }) =>
  Effect.succeed({
    params: { sessionId: sessionOf(own) },
    status: 200,
    guestStatus: 404,
    names: [{ own: sessionOf(own), others: [sessionOf(sides.test), sessionOf(sides.foreign)], unknown: randomUUID() }]
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
  "DELETE /api/consumers/:id": onConsumer({ status: 200 }),
  "GET /api/consumers/:id/export": onConsumer({ status: 200 }),
  "POST /api/consumers/:id/restore": onConsumer({ status: 200 }),
  "GET /api/consumers/:id/sessions": onConsumer({ status: 200 }),
  "GET /api/consumers/:id/places": onConsumer({ status: 200 }),
  "DELETE /api/consumers/:id/sessions": onConsumer({ status: 200 }),
  "DELETE /api/consumers/:id/sessions/:sessionId": aSession,
  "PUT /api/consumers/me": ({ consumerId }) =>
    Effect.succeed({ body: { name: "Ann" }, status: 200, guestStatus: 200, secrets: [consumerId] }),
  "GET /api/consumers/me/sessions": (own) =>
    Effect.succeed({ status: 200, guestStatus: 200, secrets: [sessionOf(own)] }),
  "DELETE /api/consumers/me/sessions": () => Effect.succeed({ status: 200, guestStatus: 200 }),
  "DELETE /api/consumers/me/sessions/:sessionId": ownSession
}
