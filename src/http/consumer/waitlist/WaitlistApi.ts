/** Waitlists, as the Consumer API declares them (interface document 2.8; completions 3, "Waitlist"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../../domain/values/Ids.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import { ConsumerAction, ConsumerStream, PublicRead, StatusRead } from "../../credentials/Credentials.ts"
import { answersTo } from "../../errors/Refusals.ts"
import { eventsOf } from "../mechanism/LiveApi.ts"
import { publicFields } from "../mechanism/PublicMechanism.ts"

/** A waitlist as everybody may see it. */
export const PublicWaitlist = Schema.Struct(
  publicFields({
    capacity: Schema.NullOr(Schema.Int)
  })
).annotate({ identifier: "Waitlist" })

/** A consumer's own standing in a waitlist. */
export const WaitlistState = Schema.Struct({
  waitlistId: Id,
  isEntered: Schema.Boolean,
  /** Null for who is no member. */
  enteredAt: Schema.NullOr(SentTimestamp),
  /** 1 + the members that entered before; null for who is no member. */
  position: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "WaitlistState" })
export type WaitlistState = typeof WaitlistState.Type

const params = { waitlistId: Id }
const change = { params, success: WaitlistState, error: answersTo.change }

const group = HttpApiGroup.make("waitlists").annotateMerge(
  OpenApi.annotations({
    title: "Waitlists",
    description: "Interest collected before a release opens; its members are told when it does."
  })
)

export class WaitlistsGroup extends group.add(
  HttpApiEndpoint.get("get", "/waitlists/:waitlistId", {
    params,
    success: PublicWaitlist,
    error: answersTo.read
  })
    .middleware(PublicRead)
    .annotate(OpenApi.Summary, "Get a waitlist"),
  HttpApiEndpoint.post("enter", "/waitlists/:waitlistId/enter", {
    params,
    success: WaitlistState,
    error: answersTo.entry
  })
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Enter a waitlist"),
  HttpApiEndpoint.post("leave", "/waitlists/:waitlistId/leave", change)
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Leave a waitlist"),
  HttpApiEndpoint.delete("leaveByDelete", "/waitlists/:waitlistId/leave", change)
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "Leave a waitlist, by DELETE"),
  HttpApiEndpoint.get("status", "/waitlists/:waitlistId/status", {
    params,
    success: WaitlistState,
    error: answersTo.read
  })
    .annotate(StatusRead, true)
    .middleware(ConsumerAction)
    .annotate(OpenApi.Summary, "The consumer's standing"),
  HttpApiEndpoint.get("events", "/waitlists/:waitlistId/events", { params, ...eventsOf(WaitlistState) })
    .middleware(ConsumerStream)
    .annotate(OpenApi.Summary, "Follow the consumer's standing")
) {}
