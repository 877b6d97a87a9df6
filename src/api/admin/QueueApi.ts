/** Queues on the Admin API. */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { Configuration, declaration } from "../../domain/queue/Queue.ts"
import { LineAct } from "../consumer/LiveApi.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"
import { steeringOf } from "./SteeringApi.ts"

/** The facts about a pause that lasts, null of a queue that is not paused. */
const publishedFields = {
  pausedAt: Schema.NullOr(Schema.String.annotate({ format: "date-time" })),
  pausedBy: Schema.NullOr(Schema.String),
  pauseReason: Schema.NullOr(StaffReason)
}

/** What only staff may know of a running queue. */
export const queueFacts = {
  acts: Schema.Array(LineAct).annotate({ description: "The last 100 actions of staff, the oldest first." }),
  admitted: Schema.Int.annotate({ description: "Tickets that were admitted, by the rate and by hand." }),
  waitRanges: Schema.NullOr(Schema.Struct({ told: Schema.Int, right: Schema.Int })).annotate({
    description:
      "Of the waits that were told as ranges and kept to be judged: how many are known, and how many of them included " +
      "the admission. Null before the first one is known."
  }),
  inside: Schema.Int.annotate({ description: "Grants that are live: neither used, left, denied nor expired." }),
  engaged: Schema.Boolean.annotate({
    description: "True while anyone waits or an entry would have to, as every entry has to without `standby`."
  })
}

/** The settings of a queue that grants visits to a site. */
const inFrontOfASite =
  "For a queue in front of a site:\n\n- `insideLimit` is the number of grants that may be live at once. Raising it admits " +
  "at once, and lowering it takes nobody's grant. Admissions by hand keep to it too (409 `INSIDE_LIMIT_REACHED`). With it, " +
  "waits are not estimated, because they depend on how long others stay.\n- With `standby` an entry is granted in its own " +
  "request while nobody waits and rate and limit allow, and the answer is GRANTED. `admitBurst` (default: the rate of one " +
  "second, at least 1) is the number of admissions that may be made at once: in any t seconds, at most `admitRate` × t / 60 " +
  "+ `admitBurst`.\n- `admissionRenewal` replaces `admissionExpirationSeconds`: a grant ends `idleSeconds` after its visitor " +
  "was last seen, and at the latest `maxSeconds` after it was made. `POST /queues/{queueId}/renew` of the Consumer API says " +
  "who was seen. The `exp` of a grant's token is the latest end. A grant that ends earlier is in `GET /grants/revoked`, and " +
  "`…/validate` knows it at once."

export const queueSchemas = schemasOf(declaration, Configuration.fields, ["admitRate"], publishedFields)

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
      "admission to `maxAdmissions`. An expired or denied grant does so only with `recycleExpiredAdmissions`.\n\n" +
      inFrontOfASite,
    changing:
      "`openAt`, `lobbyOpenAt` and `riskWeight` cannot be changed after the opening or the first entry (409 " +
      "`CONFIGURATION_FIXED`).",
    ending: "waiting consumers are denied with `QUEUE_CLOSED`, and grants already made stay valid until they expire."
  },
  queueSchemas
)
  .add(...steeringOf(queueSchemas.Record))
  .annotateMerge(
    OpenApi.annotations({ title: "Queues", description: "First come, first served, as fast as `admitRate` admits." })
  ) {}
