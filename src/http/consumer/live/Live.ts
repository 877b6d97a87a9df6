/** The handlers of live facts. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { StreamCredentials } from "../../../api/Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { matches } from "../../server/Documents.ts"
import { countedAddress, Origins } from "../../server/Origins.ts"
import { EventStreams } from "../../streams/EventStreams.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { type LiveExperience, LiveWatcher } from "./LiveExperience.ts"
import { LiveExperiences } from "./LiveExperiences.ts"
import { QueueLines } from "./QueueLines.ts"

/** Credentials of a caller without any: they never end. */
const nobodys: StreamCredentials = { hasEnded: () => false, areGood: () => Effect.succeed(true) }

/** The latest snapshot, unless the caller has it. */
const latest = Effect.fnUntraced(function* ({ current }: LiveExperience) {
  const { etag, response, unchanged } = yield* current
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  return matches(headers["if-none-match"], etag) ? unchanged : response
})

export const layer = HttpApiBuilder.group(ConsumerApi, "live", (handlers) =>
  Effect.gen(function* () {
    const experiences = yield* LiveExperiences
    const lines = yield* QueueLines
    const streams = yield* EventStreams
    const origins = yield* Origins

    return handlers.handleAll({
      live: ({ params: { experienceId } }) =>
        Effect.flatMap(experiences.find(experienceId), ({ experience }) => latest(experience)).pipe(
          orNotFound,
          orServiceUnavailable
        ),

      line: ({ params: { queueId } }) =>
        Effect.flatMap(lines.find(queueId), latest).pipe(orNotFound, orServiceUnavailable),

      liveEvents: Effect.fnUntraced(
        function* ({ params: { experienceId }, headers }) {
          const { experience, tenant } = yield* experiences.find(experienceId)
          yield* experience.current
          const watcher = new LiveWatcher(experience, headers["last-event-id"])
          const { address } = origins.of(yield* HttpServerRequest.HttpServerRequest)
          const owner = { organizationId: tenant.organizationId, address: countedAddress(address) }
          return yield* streams.open(nobodys, watcher, owner)
        },
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)
