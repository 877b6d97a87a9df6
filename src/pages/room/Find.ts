/** Finds the room that a request names, and its visitor. */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Delivery } from "../../delivery/Delivery.ts"
import { ApiKeys } from "../../auth/keys/ApiKeys.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import { restrictingOrigin } from "../../http/credentials/AllowedOrigins.ts"
import { RateLimits } from "../../http/limits/RateLimits.ts"
import { countedAddress, Origins } from "../../http/server/Origins.ts"
import { Rooms } from "../../store/organization/Rooms.ts"
import { notFound, Refusal, unavailable } from "../Refusal.ts"
import { bearerOf } from "../Security.ts"
import type { Sessions } from "./Session.ts"
import { languageIn, queryOf, type Visit } from "./Visit.ts"

/** Requests of one address for rooms in a minute. Behind a trusted proxy each client has its own. */
const requestsPerAddress = 1_200

/** Makes the function that finds a room. For `everybody` it reads no cookie. */
export const makeFind = Effect.fnUntraced(function* (sessions: Sessions) {
  const rooms = yield* Rooms
  const keys = yield* ApiKeys
  const origins = yield* Origins
  const takesPhones = (yield* Delivery).canSend("phone")
  const limit = (yield* RateLimits).byAddress("rooms", requestsPerAddress)

  return Effect.fnUntraced(function* (audience: "everybody" | "visitor") {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { retryAfterSeconds } = limit.pass(countedAddress(origins.of(request).address))
    if (retryAfterSeconds !== undefined)
      return yield* new Refusal({ status: 429, code: "RATE_LIMIT", retryAfterSeconds })
    const { experienceId = "" } = yield* HttpRouter.params
    if (!isUuid(experienceId)) return yield* notFound
    const room = yield* Effect.catchTag(rooms.find(experienceId.toLowerCase()), "Unavailable", unavailable)
    if (room === undefined) return yield* notFound
    const holder = yield* Effect.catchTag(keys.publishableOf(room.tenant), "Unavailable", unavailable)
    if (holder === undefined) return yield* notFound
    const token = bearerOf(request)
    if (token !== undefined) yield* restrictingOrigin(request, Effect.succeed(holder))
    const visit: Visit = {
      room,
      holder,
      session: audience === "everybody" ? undefined : yield* sessions.read(room.tenant, token),
      url: queryOf(request),
      language: languageIn(request),
      takesPhones,
      isPart: request.headers["accept"]?.includes("part=room") === true
    }
    return visit
  })
})
