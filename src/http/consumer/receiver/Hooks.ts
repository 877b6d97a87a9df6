/**
 * `POST /hooks/{receiverId}`: providers report payments and messages here, without a key. The random id names the tenant
 * and the adapter, which checks the raw body. The events are written before the provider gets its 200, and handled
 * afterwards. An event that is known already gets a 200 too, and nothing happens.
 *
 * Providers keep few addresses, so one address may send many requests in a minute.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AdapterName, InboundRequest, RejectedReason } from "../../../domain/receiver/Adapter.ts"
import { bytesMaxOf, receive } from "../../../domain/receiver/Adapters.ts"
import { pathOf } from "../../../domain/receiver/Receiver.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import { ReceivedEvents } from "../../../store/receiver/ReceivedEvents.ts"
import { type AddressedReceiver, Receivers } from "../../../store/receiver/Receivers.ts"
import { limitByAddress } from "../../limits/RateLimit.ts"
import { Origins } from "../../server/Origins.ts"
import { bytesOf } from "../../server/RawBodies.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Requests of one address in a minute. */
const hookRequestsMax = 6_000

const refused = (status: number, body: object, headers: { readonly [name: string]: string } = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers })

const accepted = HttpServerResponse.empty({ status: 200 })
const notFound = refused(404, { error: "Receiver not found" })
const malformed = refused(400, { error: "The body is not an event of this provider", code: "MALFORMED" })
const wrongMode = refused(400, { error: "The event is of the provider's other mode", code: "WRONG_MODE" })
const unavailable = refused(503, { error: "Service unavailable" }, { "retry-after": "1" })
// The rest of the body is not read, so the connection cannot be used again.
const tooLarge = (adapter: AdapterName) =>
  refused(413, { error: `Request body is larger than ${bytesMaxOf(adapter) / 1_024} KiB` }, { connection: "close" })

const rejection = (code: RejectedReason) => {
  if (code === "MALFORMED") return malformed
  return code === "WRONG_MODE" ? wrongMode : refused(401, { error: "The provider's signature is required", code })
}

/** The route for the receivers of all tenants. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const receivers = yield* Receivers
    const events = yield* ReceivedEvents
    const origins = yield* Origins
    const admit = yield* limitByAddress({ name: "hooks", requestsMax: hookRequestsMax, exemptsServers: false })

    const handle = Effect.gen(function* () {
      yield* admit
      const request = yield* HttpServerRequest.HttpServerRequest
      const { receiverId = "" } = yield* HttpRouter.params
      const now = yield* Time.serverNow
      const receiver = isUuid(receiverId) ? yield* receivers.addressed(receiverId.toLowerCase(), now) : undefined
      if (receiver === undefined) return notFound
      const rawBody = yield* bytesOf(request, bytesMaxOf(receiver.adapter))
      if (rawBody === undefined) return tooLarge(receiver.adapter)
      const { isEncrypted } = origins.of(request)
      const inbound = { headers: request.headers, url: urlOf(request, receiver, isEncrypted), rawBody }
      const outcome = receive(receiver.adapter, inbound satisfies InboundRequest, expectedOf(receiver), now)
      if (outcome._tag === "Rejected") return rejection(outcome.reason)
      yield* events.record(receiver.id, outcome.events, now)
      return accepted
    }).pipe(Effect.catchTag("Unavailable", () => Effect.succeed(unavailable)))
    yield* router.add("POST", pathOf(":receiverId") as "/hooks/:receiverId", handle)
  })
).pipe(Layer.provide(Layer.merge(Receivers.layer, ReceivedEvents.layer)))

const expectedOf = ({ secrets, tenant: { mode } }: AddressedReceiver) => ({ secrets, mode })

/** The URL that the provider called: the one that an admin set, or the request's. */
const urlOf = (
  { headers, url: path }: HttpServerRequest.HttpServerRequest,
  { url }: AddressedReceiver,
  isEncrypted: boolean
): string => url ?? `${isEncrypted ? "https" : "http"}://${headers["host"] ?? ""}${path}`
