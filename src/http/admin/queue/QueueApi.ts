/** Queues on the Admin API: the declaration (interface document 2.8; completions 4, "queue"). */
import { OpenApi } from "effect/http-api"
import { Configuration } from "../../../domain/queue/Queue.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"

export const queueSchemas = schemasOf("Queue", Configuration.fields, ["admitRate"])

export class QueueApi extends mechanismGroup(
  {
    group: "queues",
    noun: "queue",
    aNoun: "a queue",
    name: "Queue",
    creating:
      "`admitRate` is consumers per minute; 0 admits by hand only. Without `openAt` it is open at once, without `closeAt` until it is ended. `timeZone` defaults to the experience's, `supportsGuest` to true, `recycleExpiredAdmissions` and `loyaltyBiasEnabled` to false, `loyaltyHeadStartSeconds` to 60. A consumer holds one grant at a time. `grantsPerConsumer` is how many it may have, one after another: used, left and expired ones count, and one more entry is a 409 `GRANT_LIMIT_REACHED`. Without it there is no limit, but a consumer that used its grant does not enter again. A grant that its consumer left always gives its admission back to `maxAdmissions`, an expired or denied one only with `recycleExpiredAdmissions`.",
    changing: "`openAt` and `lobbyOpenAt` cannot be changed once it has opened (409 `CONFIGURATION_FIXED`).",
    ending: "who waits is denied with `QUEUE_CLOSED`, admissions already granted stay valid until they expire."
  },
  queueSchemas
).annotateMerge(
  OpenApi.annotations({ title: "Queues", description: "First come, first served, as fast as `admitRate` admits." })
) {}
