/** Whether a room leads back to a shop: `?to={address}`. The guard of a shop asks it before it sends visitors to the room. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Places } from "./Places.ts"
import { callerOf, shopUrlOf, type Visit } from "./Visit.ts"

const headers = { "cache-control": "no-store" }

/** Makes the function that answers with a 204, or a 403 for a shop to which the room does not lead. */
export const make = (places: Places) =>
  Effect.fnUntraced(function* (visit: Visit) {
    const { experience } = yield* places.shown({ holder: callerOf(visit).holder }, visit.room.experienceId)
    const to = visit.url.get("to")
    const led = shopUrlOf(to, visit, experience)
    const isAllowed = to !== null && led !== undefined && URL.parse(to)?.origin === new URL(led).origin
    return isAllowed
      ? HttpServerResponse.empty({ status: 204, headers })
      : HttpServerResponse.jsonUnsafe({ error: "The organization does not allow this shop" }, { status: 403, headers })
  })
