/**
 * Takes over the session of a visitor that a gate has sent: `?token={token}` (`auth/tokens/VisitTokens.ts`). A visitor
 * with a session of its own keeps that one, because it may have other places, and gives up the new place. Of a token that
 * has served, nothing follows.
 */
import { Effect } from "effect"
import { VisitTokens } from "../../auth/tokens/VisitTokens.ts"
import { sameTenant } from "../../domain/values/Ids.ts"
import type { ConsumerApiClient } from "../ApiClients.ts"
import { unavailable } from "../Refusal.ts"
import { redirectToPlace } from "./FormHandler.ts"
import type { Places } from "./Places.ts"
import type { Sessions } from "./Session.ts"
import type { Visit } from "./Visit.ts"

export const make = (api: ConsumerApiClient["Service"], places: Places, sessions: Sessions) =>
  Effect.map(VisitTokens, (visits) =>
    Effect.fnUntraced(function* (visit: Visit) {
      const { room, holder, session } = visit
      const response = yield* redirectToPlace(visit, places)
      const visiting = yield* visits.verify(visit.url.get("token") ?? "")
      if (visiting === undefined || !sameTenant(visiting.subject.tenant, room.tenant)) return response
      if (session?.consumerId === visiting.subject.consumerId) return response
      if (!(yield* Effect.catchTag(visits.takeOver(visiting), "Unavailable", unavailable))) return response
      // The session was verified when the token was made, and its cookie is none if it has ended since.
      const access = { ...visiting.subject, expiresAt: Infinity }
      if (session === undefined) return yield* sessions.keep(response, access)
      const leaving = api.run({ holder, access }, "queues", "leave", { params: { queueId: visiting.queueId } })
      return yield* Effect.as(Effect.ignore(leaving), response)
    })
  )
