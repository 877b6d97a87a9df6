/** Waitlists on the Consumer API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminReason } from "../../domain/mechanism/Denial.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ConsumerAction } from "../Credentials.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { alreadyCompleted, completing, serverActions } from "./Grants.ts"
import { publicFields } from "./PublicMechanism.ts"
import { asOf } from "./AsOf.ts"
import { endpointsOf, grantEndpointsOf } from "./MechanismApi.ts"
import { declaration } from "../../domain/waitlist/Waitlist.ts"
import { count, isFull } from "./LiveFields.ts"

/** The public view of a waitlist. */
export const PublicWaitlist = Schema.Struct(
  publicFields({
    capacity: Schema.NullOr(Schema.Int),
    supportsGuest: Schema.Boolean,
    offers: Schema.NullOr(Schema.Boolean),
    admissionExpirationSeconds: Schema.NullOr(Schema.Int)
  })
).annotate({ identifier: "Waitlist" })

/** A waitlist in a sequence. */
export const ListedWaitlist = Schema.Struct({
  id: Id,
  capacity: Schema.NullOr(Schema.Int),
  supportsGuest: Schema.Boolean,
  lifecycle: PublicWaitlist.fields.lifecycle
})

/** The facts of its own that an experience's live page shows. */
export const liveWaitlist = { waiting: count("Members without a message yet."), isFull }

/** A consumer's own standing in a waitlist. */
export const WaitlistState = Schema.Struct({
  waitlistId: Id,
  isEntered: Schema.Boolean,
  /** Null if the consumer is not a member. */
  enteredAt: Schema.NullOr(SentTimestamp),
  /** 1 + the members that entered before. Null if the consumer is not a member. */
  position: Schema.NullOr(Schema.Int),
  status: Schema.optionalKey(
    Schema.Literals(["OFFERED", "COMPLETED", "EXPIRED"]).annotate({
      description:
        "Present for a consumer that has an offer, has used it, or has let it lapse. Leaving declines an offer; after " +
        "one that lapsed the consumer may enter again."
    })
  ),
  alreadyCompleted,
  /** Present if `OFFERED`. */
  admissionGrant: Schema.optionalKey(Schema.String),
  /** Present if `OFFERED`. */
  offeredAt: Schema.optionalKey(SentTimestamp),
  /** `OFFERED`: absent if the offer does not expire. `EXPIRED`: when it lapsed. */
  expiresAt: Schema.optionalKey(SentTimestamp),
  /** Present if `COMPLETED`. */
  completedAt: Schema.optionalKey(SentTimestamp),
  asOf
}).annotate({ identifier: "WaitlistState" })
export type WaitlistState = typeof WaitlistState.Type

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({
    title: "Waitlists",
    description: `Collects interest before a release opens. Members get a message when it opens, or offers of units of a stock. ${serverActions}`
  })
)

/** Where the kind is found, and how it is seen. */
export const location = {
  path: declaration.path,
  param: declaration.parameter,
  State: WaitlistState,
  Public: PublicWaitlist
} as const
const waitlist = endpointsOf(location)
const grant = grantEndpointsOf({ ...location, Reason: AdminReason })

export class WaitlistsGroup extends group.add(
  waitlist.get.annotate(OpenApi.Summary, "Get a waitlist"),
  waitlist.enter.annotate(OpenApi.Summary, "Enter a waitlist"),
  waitlist.leave.annotate(OpenApi.Summary, "Leave a waitlist"),
  HttpApiEndpoint.delete("leaveByDelete", "/waitlists/:waitlistId/leave", {
    params: { waitlistId: Id },
    success: WaitlistState,
    error: mechanismErrors.change
  })
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Leave a waitlist, by DELETE"),
  waitlist.status.annotate(OpenApi.Summary, "The consumer's standing"),
  waitlist.events.annotate(OpenApi.Summary, "Follow the consumer's standing"),
  grant.deny.annotate(OpenApi.Summary, "Deny a place or an offer"),
  grant.complete.annotateMerge(OpenApi.annotations({ summary: "Complete a grant", description: completing })),
  grant.validate.annotate(OpenApi.Summary, "Check a grant")
) {}
