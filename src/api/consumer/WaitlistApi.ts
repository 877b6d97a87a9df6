/** Waitlists on the Consumer API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ConsumerAction } from "../Credentials.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { publicFields } from "./PublicMechanism.ts"
import { asOf } from "./AsOf.ts"
import { endpointsOf } from "./MechanismApi.ts"
import { declaration } from "../../domain/waitlist/Waitlist.ts"
import { count, isFull } from "./LiveFields.ts"

/** The public view of a waitlist. */
export const PublicWaitlist = Schema.Struct(
  publicFields({
    capacity: Schema.NullOr(Schema.Int),
    supportsGuest: Schema.Boolean
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
  asOf
}).annotate({ identifier: "WaitlistState" })
export type WaitlistState = typeof WaitlistState.Type

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({
    title: "Waitlists",
    description: "Collects interest before a release opens. Members get a message when it opens."
  })
)

const waitlist = endpointsOf({
  path: declaration.path,
  param: declaration.parameter,
  State: WaitlistState,
  Public: PublicWaitlist
})

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
  waitlist.events.annotate(OpenApi.Summary, "Follow the consumer's standing")
) {}
