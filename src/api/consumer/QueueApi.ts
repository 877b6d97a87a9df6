/** Queues on the Consumer API. */
import { Schema, Tuple } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { admissionsAtOnceMax } from "../../domain/queue/Protocol.ts"
import { Id } from "../../domain/values/Ids.ts"
import { AdminReason, DenialReason, declaration } from "../../domain/queue/Queue.ts"
import { riskRuleFields } from "../../domain/risk/RiskWeight.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ServerAction } from "../Credentials.ts"
import { RateCategory } from "../Annotations.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { alreadyCompleted, completing, grantLimitReached, serverActions } from "./Grants.ts"
import { publicFields } from "./PublicMechanism.ts"
import { NotOpenYetWithHeaders } from "../Errors.ts"
import { asOf } from "./AsOf.ts"
import { endpointsOf, grantEndpointsOf } from "./MechanismApi.ts"
import { passEndpoint, renewEndpoint } from "./PassApi.ts"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { count, instant, isFull, unitsLeft } from "./LiveFields.ts"

/** The public view of a queue. */
export const PublicQueue = Schema.Struct(
  publicFields({
    lobbyOpenAt: Schema.NullOr(SentTimestamp),
    admitRate: Schema.Int,
    admissionExpirationSeconds: Schema.NullOr(Schema.Int),
    capacity: Schema.NullOr(Schema.Int),
    maxAdmissions: Schema.NullOr(Schema.Int),
    grantsPerConsumer: Schema.NullOr(Schema.Int),
    supportsGuest: Schema.Boolean,
    loyaltyBiasEnabled: Schema.Boolean,
    ...riskRuleFields
  })
).annotate({ identifier: "Queue" })

/** A queue of a stock without a unit that is free. */
const SoldOut = Schema.Struct({
  mayReturn: Schema.Boolean.annotate({
    description: "True while a unit may come: others hold some that are not paid for, or the stock has some."
  })
}).annotate({
  description: "Every unit of the stock is held or sold. Places are kept, and go on by themselves when a unit comes.",
  identifier: "QueueSoldOut"
})

/** The facts of its own that an experience's live page shows. */
export const liveQueue = {
  waiting: count("Consumers that wait now."),
  isFull,
  admitRate: count("Consumers per minute; 0: by hand only."),
  paused: Schema.NullOr(Schema.Boolean).annotate({ description: "True while the rate admits no consumers." }),
  pausedAt: instant,
  pauseReason: Schema.NullOr(StaffReason),
  unitsLeft: unitsLeft.annotate({
    description: "Grants that may still be made. Null without a limit, and while units of the stock may come."
  }),
  soldOut: Schema.NullOr(SoldOut)
}

/** A consumer's own standing in a queue. */
export const QueueState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_QUEUED"), alreadyCompleted }),
  Schema.Struct({
    status: Schema.Literal("QUEUED"),
    alreadyCompleted,
    /** 1 + the number of consumers ahead. Absent in the lobby. */
    position: Schema.optionalKey(Schema.Int),
    ticket: Schema.optionalKey(
      Schema.Int.annotate({
        description:
          "The place's number in the order of admission, for `…/line`. Absent in the lobby and under loyalty bias."
      })
    ),
    /** Absent in the lobby, while admission is by hand, with an `insideLimit`, while it is paused or sold out. */
    estimatedWaitTimeInSeconds: Schema.optionalKey(Schema.Int),
    paused: Schema.optionalKey(
      Schema.Literal(true).annotate({ description: "Present while the rate admits no consumers. Places are kept." })
    ),
    /** Present while no unit of the stock is free here. */
    soldOut: Schema.optionalKey(SoldOut),
    positionDisplayMode: Schema.Literals(["precise", "qualitative"]),
    enteredAt: SentTimestamp
  }),
  Schema.Struct({
    status: Schema.Literal("GRANTED"),
    alreadyCompleted,
    admissionGrant: Schema.String,
    enteredAt: SentTimestamp,
    grantedAt: SentTimestamp,
    /** Absent if the grant does not expire. The token's `exp` is later where the grant is renewed. */
    expiresAt: Schema.optionalKey(SentTimestamp)
  }),
  Schema.Struct({
    status: Schema.Literal("COMPLETED"),
    alreadyCompleted,
    grantLimitReached,
    enteredAt: SentTimestamp,
    completedAt: SentTimestamp
  }),
  Schema.Struct({
    status: Schema.Literal("DENIED"),
    alreadyCompleted,
    grantLimitReached,
    reason: DenialReason,
    enteredAt: SentTimestamp,
    deniedAt: SentTimestamp
  }),
  Schema.Struct({
    status: Schema.Literal("LEFT"),
    alreadyCompleted,
    grantLimitReached,
    enteredAt: SentTimestamp,
    leftAt: SentTimestamp
  })
])
  .mapMembers(Tuple.map(Schema.fieldsAssign({ asOf })))
  .annotate({ identifier: "QueueState" })
export type QueueState = typeof QueueState.Type

/** The consumers that were admitted by count, in the order of their admission. */
const QueueAdmissions = Schema.Struct({
  admitted: Schema.Int,
  consumerIds: Schema.Array(Schema.String.annotate({ format: "uuid" }))
}).annotate({ identifier: "QueueAdmissions" })

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

/** The consumer that is admitted, or the number of consumers. */
const admission = [
  Schema.Struct({ consumerId: Id, count: unnamed }),
  Schema.Struct({
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: admissionsAtOnceMax })),
    consumerId: unnamed
  })
] as const

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({
    title: "Queues",
    description: `Admits consumers in the order of their arrival. ${serverActions}`
  })
)

/** Where the kind is found, and how it is seen. */
export const location = {
  path: declaration.path,
  param: declaration.parameter,
  State: QueueState,
  Public: PublicQueue
} as const
const queue = endpointsOf(location)
const grant = grantEndpointsOf({ ...location, Reason: AdminReason })

export class QueuesGroup extends group.add(
  queue.get.annotate(OpenApi.Summary, "Get a queue"),
  queue.enter.annotate(RateCategory, "queueEntry").annotateMerge(
    OpenApi.annotations({
      summary: "Enter a queue",
      description:
        "A consumer that waits or holds a grant gets its present state. A consumer that left, or whose grant expired, " +
        "takes a new place at the end. With `grantsPerConsumer`, so does a consumer that used its grant, until it " +
        "reaches that number (409 `GRANT_LIMIT_REACHED`). Used, left and expired grants all count. With `standby`, the " +
        "answer to an entry that need not wait is GRANTED."
    })
  ),
  queue.leave.annotate(OpenApi.Summary, "Leave a queue"),
  queue.status.annotate(OpenApi.Summary, "The consumer's standing"),
  queue.events.annotate(OpenApi.Summary, "Follow the consumer's standing"),
  HttpApiEndpoint.post("admit", "/queues/:queueId/admit", {
    params: { queueId: Id },
    payload: Schema.Union(admission),
    success: Schema.Union([QueueState, QueueAdmissions]),
    error: [...mechanismErrors.change, NotOpenYetWithHeaders]
  })
    .middleware(ServerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Admit one consumer, or the next ones",
        description:
          "With `consumerId` it admits that consumer and returns its standing. With `count` (1 to 10,000) it admits the " +
          "next consumers in the queue's order: as many as wait and as `maxAdmissions` and `insideLimit` allow (409 " +
          "`ADMISSIONS_USED_UP` or `INSIDE_LIMIT_REACHED` if they allow none). It returns the admitted consumers in this order, or an empty list. A request that stops " +
          "halfway returns those it has admitted. Before the opening, `count` is refused (423), because the lobby has no " +
          "order yet."
      })
    ),
  grant.deny.annotate(OpenApi.Summary, "Deny a place, or a grant"),
  grant.complete.annotateMerge(OpenApi.annotations({ summary: "Complete a grant", description: completing })),
  grant.validate.annotate(OpenApi.Summary, "Check a grant"),
  passEndpoint,
  renewEndpoint
) {}
