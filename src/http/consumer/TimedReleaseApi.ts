/** Timed releases, as the Consumer API declares them (interface document 2.9 and 4.2; completions 3, "Timed release"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Id } from "../../domain/Ids.ts"
import { DenialReason } from "../../domain/TimedRelease.ts"
import { SentTimestamp } from "../../domain/Time.ts"
import { ConsumerAction, ConsumerStream, PublicRead, ServerAction } from "../Credentials.ts"
import { answersTo } from "../Refusals.ts"
import { Validity } from "./GrantAnswers.ts"
import { eventsOf } from "./LiveApi.ts"
import { publicFields } from "./PublicMechanism.ts"

/** A timed release as everybody may see it. */
export const PublicTimedRelease = Schema.Struct(
  publicFields({
    supportsGuest: Schema.Boolean,
    capacity: Schema.NullOr(Schema.Int),
    admissionExpirationSeconds: Schema.NullOr(Schema.Int),
    variantIds: Schema.NullOr(Schema.Array(Schema.String))
  })
).annotate({ identifier: "TimedRelease" })

/** A consumer's own standing in a timed release: `status`, and the fields of the interface document's 2.9 that it has. */
export const TimedReleaseState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_ENTERED") }),
  Schema.Struct({
    status: Schema.Literal("ENTERED"),
    admissionGrant: Schema.String,
    enteredAt: SentTimestamp,
    /** Absent if the grant does not expire. */
    expiresAt: Schema.optionalKey(SentTimestamp),
    /** Absent while nothing is selected. */
    selectedVariantId: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({
    status: Schema.Literal("COMPLETED"),
    enteredAt: SentTimestamp,
    completedAt: SentTimestamp,
    selectedVariantId: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({ status: Schema.Literal("LEFT"), enteredAt: SentTimestamp, leftAt: SentTimestamp }),
  Schema.Struct({ status: Schema.Literal("DENIED"), enteredAt: SentTimestamp }),
  Schema.Struct({ status: Schema.Literal("EXPIRED"), enteredAt: SentTimestamp, expiresAt: SentTimestamp })
]).annotate({ identifier: "TimedReleaseState" })
export type TimedReleaseState = typeof TimedReleaseState.Type

const params = { timedReleaseId: Id }

/** The body may be absent, and so may what is in it. */
const selection = [Schema.Void, Schema.Struct({ variantId: Schema.optionalKey(Schema.NullOr(Id)) })]

export class TimedReleasesGroup extends HttpApiGroup.make("timedReleases").add(
  HttpApiEndpoint.get("get", "/timed-releases/:timedReleaseId", {
    params,
    success: PublicTimedRelease,
    error: answersTo.read
  }).middleware(PublicRead),
  HttpApiEndpoint.post("enter", "/timed-releases/:timedReleaseId/enter", {
    params,
    payload: selection,
    success: TimedReleaseState,
    error: answersTo.entry
  }).middleware(ConsumerAction),
  HttpApiEndpoint.post("leave", "/timed-releases/:timedReleaseId/leave", {
    params,
    success: TimedReleaseState,
    error: answersTo.change
  }).middleware(ConsumerAction),
  HttpApiEndpoint.get("status", "/timed-releases/:timedReleaseId/status", {
    params,
    success: TimedReleaseState,
    error: answersTo.read
  }).middleware(ConsumerAction),
  HttpApiEndpoint.get("events", "/timed-releases/:timedReleaseId/events", {
    params,
    ...eventsOf(TimedReleaseState)
  }).middleware(ConsumerStream),
  HttpApiEndpoint.post("deny", "/timed-releases/:timedReleaseId/deny", {
    params,
    payload: Schema.Struct({ consumerId: Id, reason: DenialReason }),
    success: TimedReleaseState,
    error: answersTo.change
  }).middleware(ServerAction),
  HttpApiEndpoint.post("complete", "/timed-releases/:timedReleaseId/complete", {
    params,
    payload: Schema.Struct({ consumerId: Id }),
    success: TimedReleaseState,
    error: answersTo.change
  }).middleware(ServerAction),
  HttpApiEndpoint.post("validate", "/timed-releases/:timedReleaseId/validate", {
    params,
    payload: Schema.Struct({ consumerId: Id, token: Schema.String }),
    success: Validity,
    error: answersTo.read
  }).middleware(ServerAction)
) {}
