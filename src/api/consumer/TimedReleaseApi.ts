/** Timed releases on the Consumer API. */
import { Schema, Tuple } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminReason } from "../../domain/mechanism/Denial.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ConsumerAction } from "../Credentials.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { alreadyCompleted, completing, grantLimitReached, serverActions } from "./Grants.ts"
import { publicFields } from "./PublicMechanism.ts"
import { asOf } from "./AsOf.ts"
import { endpointsOf, grantEndpointsOf } from "./MechanismApi.ts"
import { declaration } from "../../domain/timedRelease/TimedRelease.ts"
import { isFull, unitsLeft } from "./LiveFields.ts"

/** The public view of a timed release. */
export const PublicTimedRelease = Schema.Struct(
  publicFields({
    supportsGuest: Schema.Boolean,
    capacity: Schema.NullOr(Schema.Int),
    grantsPerConsumer: Schema.NullOr(Schema.Int),
    admissionExpirationSeconds: Schema.NullOr(Schema.Int),
    variantIds: Schema.NullOr(Schema.Array(Schema.String))
  })
).annotate({ identifier: "TimedRelease" })

/** The facts of its own that an experience's live page shows. */
export const liveTimedRelease = { unitsLeft, isFull }

/**
 * A consumer's own standing in a timed release: `status`, and the fields that the
 * status has.
 */
export const TimedReleaseState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_ENTERED"), alreadyCompleted }),
  Schema.Struct({
    status: Schema.Literal("ENTERED"),
    alreadyCompleted,
    admissionGrant: Schema.String,
    enteredAt: SentTimestamp,
    /** Absent if the grant does not expire. */
    expiresAt: Schema.optionalKey(SentTimestamp),
    /** Absent while nothing is selected. */
    selectedVariantId: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({
    status: Schema.Literal("COMPLETED"),
    alreadyCompleted,
    grantLimitReached,
    enteredAt: SentTimestamp,
    completedAt: SentTimestamp,
    selectedVariantId: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({
    status: Schema.Literal("LEFT"),
    alreadyCompleted,
    grantLimitReached,
    enteredAt: SentTimestamp,
    leftAt: SentTimestamp
  }),
  Schema.Struct({ status: Schema.Literal("DENIED"), alreadyCompleted, enteredAt: SentTimestamp }),
  Schema.Struct({
    status: Schema.Literal("EXPIRED"),
    alreadyCompleted,
    grantLimitReached,
    enteredAt: SentTimestamp,
    expiresAt: SentTimestamp
  })
])
  .mapMembers(Tuple.map(Schema.fieldsAssign({ asOf })))
  .annotate({ identifier: "TimedReleaseState" })
export type TimedReleaseState = typeof TimedReleaseState.Type

/** The body and its field may be absent. */
const selection = [Schema.Struct({ variantId: Schema.optionalKey(Schema.NullOr(Id)) }), Schema.Null] as const

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({
    title: "Timed releases",
    description: `Grants one unit to every consumer that enters within the window, while units last. ${serverActions}`
  })
)

/** Where the kind is found, and how it is seen. */
export const location = {
  path: declaration.path,
  param: declaration.parameter,
  State: TimedReleaseState,
  Public: PublicTimedRelease
} as const
const release = endpointsOf(location)
const grant = grantEndpointsOf({ ...location, Reason: AdminReason })

export class TimedReleasesGroup extends group.add(
  release.get.annotate(OpenApi.Summary, "Get a timed release"),
  HttpApiEndpoint.post("enter", "/timed-releases/:timedReleaseId/enter", {
    params: { timedReleaseId: Id },
    payload: selection,
    success: TimedReleaseState,
    error: mechanismErrors.entry
  })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Enter a timed release",
        description:
          "A `variantId` is one of the release's `variantIds` or, without these, one that its experience offers; any other " +
          "is not found. Entering again with another variant changes the selection. A consumer that left, or whose grant " +
          "expired, may enter again. With `grantsPerConsumer`, so may a consumer that used its grant, until it reaches " +
          "that number (409 `GRANT_LIMIT_REACHED`). Used, left and expired grants all count."
      })
    ),
  release.leave.annotate(OpenApi.Summary, "Leave a timed release"),
  release.status.annotate(OpenApi.Summary, "The consumer's standing"),
  release.events.annotate(OpenApi.Summary, "Follow the consumer's standing"),
  grant.deny.annotate(OpenApi.Summary, "Deny a grant"),
  grant.complete.annotateMerge(OpenApi.annotations({ summary: "Complete a grant", description: completing })),
  grant.validate.annotate(OpenApi.Summary, "Check a grant")
) {}
