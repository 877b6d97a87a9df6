/** Queues on the Admin API. */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { Configuration, declaration } from "../../domain/queue/Queue.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"
import { steeringOf, whyFields } from "./SteeringApi.ts"

/** The facts about a pause that lasts; null of a queue that is not paused. */
const pauseFields = {
  pausedAt: Schema.NullOr(Schema.String.annotate({ format: "date-time" })),
  pausedBy: Schema.NullOr(Schema.String),
  pauseReason: Schema.NullOr(StaffReason)
}

const schemas = schemasOf(declaration, Configuration.fields, ["admitRate"], pauseFields)

export const queueSchemas = {
  ...schemas,
  Change: Schema.Struct({ ...schemas.Change.fields, ...whyFields }).annotate({ identifier: "ChangeQueue" })
}

export class QueueApi extends mechanismGroup(
  declaration,
  {
    creating:
      "`admitRate` is consumers per minute; 0 admits by hand only. Without `openAt` the queue is open at once, without " +
      "`closeAt` until it is ended. Defaults: `timeZone` is the experience's, `supportsGuest` is true, " +
      "`recycleExpiredAdmissions` and `loyaltyBiasEnabled` are false, `loyaltyHeadStartSeconds` is 60.\n\n`riskWeight` " +
      "(default 0) lowers the weight of risky entries in the order of the lobby. The weight of a place is 1 − " +
      "`riskWeight` × the risk score of its entry, and at least 0.01. The queue's public view states this rule.\n\nA " +
      "consumer holds one grant at a time. `grantsPerConsumer` is the number of grants it may have, one after another. " +
      "Used, left and expired grants count; one more entry is a 409 `GRANT_LIMIT_REACHED`. Without it there is no " +
      "limit, but a consumer that used its grant cannot enter again. A grant that its consumer left always returns its " +
      "admission to `maxAdmissions`. An expired or denied grant does so only with `recycleExpiredAdmissions`.",
    changing:
      "`openAt`, `lobbyOpenAt` and `riskWeight` cannot be changed after the opening or the first entry (409 " +
      "`CONFIGURATION_FIXED`). `reason` is recorded with the author, and `note` is kept in the audit log.",
    ending: "waiting consumers are denied with `QUEUE_CLOSED`, and grants already made stay valid until they expire."
  },
  queueSchemas
)
  .add(...steeringOf(queueSchemas.Record))
  .annotateMerge(
    OpenApi.annotations({ title: "Queues", description: "First come, first served, as fast as `admitRate` admits." })
  ) {}
