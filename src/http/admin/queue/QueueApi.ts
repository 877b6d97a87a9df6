/** Queues on the Admin API: the declaration (interface document 2.8; completions 4, "queue"). */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { StaffReason } from "../../../domain/mechanism/Author.ts"
import { Configuration } from "../../../domain/queue/Queue.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"
import { steeringOf } from "../steering/SteeringApi.ts"
import { whyFields } from "../steering/WhyFields.ts"

/** The facts about a pause that lasts; null of a queue that is not paused. */
export const pauseFields = {
  pausedAt: Schema.NullOr(Schema.String.annotate({ format: "date-time" })),
  pausedBy: Schema.NullOr(Schema.String),
  pauseReason: Schema.NullOr(StaffReason)
}

const schemas = schemasOf("Queue", Configuration.fields, ["admitRate"])

export const queueSchemas = {
  ...schemas,
  Record: Schema.Struct({ ...schemas.Record.fields, ...pauseFields }).annotate({ identifier: "Queue" }),
  Change: Schema.Struct({ ...schemas.Change.fields, ...whyFields }).annotate({ identifier: "ChangeQueue" })
}

export class QueueApi extends mechanismGroup(
  {
    group: "queues",
    noun: "queue",
    aNoun: "a queue",
    name: "Queue",
    creating:
      "`admitRate` is consumers per minute; 0 admits by hand only. Without `openAt` it is open at once, without `closeAt` until it is ended. `timeZone` defaults to the experience's, `supportsGuest` to true, `recycleExpiredAdmissions` and `loyaltyBiasEnabled` to false, `loyaltyHeadStartSeconds` to 60. With `riskWeight` (0) the weight of a place in the order of the lobby is 1 − `riskWeight` × the risk score of its entry, and 0.01 at least; the queue's public view states this rule. A consumer holds one grant at a time. `grantsPerConsumer` is how many it may have, one after another: used, left and expired ones count, and one more entry is a 409 `GRANT_LIMIT_REACHED`. Without it there is no limit, but a consumer that used its grant does not enter again. A grant that its consumer left always gives its admission back to `maxAdmissions`, an expired or denied one only with `recycleExpiredAdmissions`.",
    changing:
      "`openAt`, `lobbyOpenAt` and `riskWeight` cannot be changed once it has opened or a consumer has entered (409 `CONFIGURATION_FIXED`). `reason` is recorded with the author, and `note` is kept in the audit log.",
    ending: "who waits is denied with `QUEUE_CLOSED`, admissions already granted stay valid until they expire."
  },
  queueSchemas
)
  .add(...steeringOf(queueSchemas.Record))
  .annotateMerge(
    OpenApi.annotations({ title: "Queues", description: "First come, first served, as fast as `admitRate` admits." })
  ) {}
