/** Draws, as the Consumer API declares them (interface document 2.8; completions 3, "Draw"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminReason } from "../../../domain/mechanism/Denial.ts"
import { DenialReason, Proof } from "../../../domain/draw/Draw.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import { ConsumerAction, ConsumerStream, PublicRead, ServerAction, StatusRead } from "../../credentials/Credentials.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { RateCategory } from "../../limits/Limit.ts"
import { answersTo } from "../../errors/Refusals.ts"
import * as ServerActions from "../../server/ServerActions.ts"
import { Validity } from "../mechanism/GrantAnswers.ts"
import { eventsOf } from "../mechanism/LiveApi.ts"
import { publicFields } from "../mechanism/PublicMechanism.ts"

/** A draw as everybody may see it. */
export const PublicDraw = Schema.Struct(
  publicFields({
    closeAt: SentTimestamp,
    drawAt: SentTimestamp,
    winnerCount: Schema.Int,
    capacity: Schema.NullOr(Schema.Int),
    admissionExpirationSeconds: Schema.NullOr(Schema.Int),
    supportsGuest: Schema.Boolean,
    continueSelectingUntilCompleted: Schema.Boolean,
    loyaltyBiasEnabled: Schema.Boolean,
    loyaltyWeight: Schema.Finite,
    beacon: Schema.NullOr(Schema.String),
    /** SHA-256 of the seed that decides the draw. */
    seedCommitment: Schema.String,
    /** Null until entry has closed. */
    entriesDigest: Schema.NullOr(Schema.String),
    /** The beacon's round; null until entry has closed, and without a beacon. */
    beaconRound: Schema.NullOr(Schema.Int),
    drawnAt: Schema.NullOr(Schema.String.annotate({ format: "date-time" }))
  })
).annotate({ identifier: "Draw" })

/** The entry's name in the list of entries and in the proof. */
const entryId = Schema.String

const drawnAt = Schema.optionalKey(
  SentTimestamp.annotate({
    description:
      "When the draw was drawn; absent before. A consumer that has not won and is not `DENIED` may still win in place of another."
  })
)

/** A consumer's own standing in a draw. */
export const DrawState = Schema.Union([
  Schema.Struct({ status: Schema.Literal("NOT_ENTERED"), drawnAt }),
  Schema.Struct({
    status: Schema.Literal("ENTERED"),
    enteredAt: SentTimestamp,
    entryId,
    drawnAt,
    /** In the answer to entering alone. */
    entryReceipt: Schema.optionalKey(Schema.String)
  }),
  Schema.Struct({
    status: Schema.Literal("WON"),
    admissionGrant: Schema.String,
    enteredAt: SentTimestamp,
    entryId,
    drawnAt,
    wonAt: SentTimestamp,
    /** Absent if the grant does not expire. */
    expiresAt: Schema.optionalKey(SentTimestamp)
  }),
  Schema.Struct({
    status: Schema.Literal("COMPLETED"),
    enteredAt: SentTimestamp,
    entryId,
    drawnAt,
    completedAt: SentTimestamp
  }),
  Schema.Struct({
    status: Schema.Literal("DENIED"),
    reason: DenialReason,
    enteredAt: SentTimestamp,
    /** Absent if it was denied before entry closed. */
    entryId: Schema.optionalKey(entryId),
    drawnAt,
    deniedAt: SentTimestamp
  })
]).annotate({ identifier: "DrawState" })
export type DrawState = typeof DrawState.Type

/** What was withdrawn; the consumer's status is NOT_ENTERED from then on. */
export const Withdrawn = Schema.Struct({
  status: Schema.Literal("ENTERED"),
  leftAt: SentTimestamp
}).annotate({ identifier: "DrawEntryWithdrawn" })

const params = { drawId: Id }
const consumerPayload = Schema.Struct({ consumerId: Id })

const consumerActions = [
  HttpApiEndpoint.post("enter", "/draws/:drawId/enter", { params, success: DrawState, error: answersTo.entry })
    .annotate(RateCategory, "drawEntry")
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Enter a draw",
        description:
          "Possible from `openAt` to `closeAt`. `entryReceipt` is a signed token that says which entry was accepted and when; keep it, to show that the entry must be in the list. Entering again changes nothing."
      })
    ),
  HttpApiEndpoint.post("leave", "/draws/:drawId/leave", { params, success: Withdrawn, error: answersTo.change })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Leave a draw",
        description:
          "Withdraws the entry; possible until it has been drawn. 409 `ALREADY_GRANTED`: it has won; 409 `NOT_ENTERED`: there is none."
      })
    ),
  HttpApiEndpoint.get("status", "/draws/:drawId/status", { params, success: DrawState, error: answersTo.read })
    .annotate(StatusRead, true)
    .middleware(ConsumerAction)
    .annotateMerge(OpenApi.annotations({ summary: "The consumer's standing" })),
  HttpApiEndpoint.get("events", "/draws/:drawId/events", { params, ...eventsOf(DrawState) })
    .middleware(ConsumerStream)
    .annotate(OpenApi.Summary, "Follow the consumer's standing")
] as const

const serverActions = [
  HttpApiEndpoint.post("deny", "/draws/:drawId/deny", {
    params,
    payload: Schema.Struct({ consumerId: Id, reason: AdminReason }),
    success: DrawState,
    error: answersTo.change
  })
    .middleware(ServerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Deny an entry, or a win",
        description:
          "With `continueSelectingUntilCompleted` a win that is denied goes to the next in the drawn order. An entry that is denied after entry has closed is named in the proof."
      })
    ),
  HttpApiEndpoint.post("complete", "/draws/:drawId/complete", {
    params,
    payload: consumerPayload,
    success: DrawState,
    error: answersTo.change
  })
    .middleware(ServerAction)
    .annotateMerge(OpenApi.annotations({ summary: "Complete a win" })),
  HttpApiEndpoint.post("validate", "/draws/:drawId/validate", {
    params,
    payload: Schema.Struct({ consumerId: Id, token: Schema.String }),
    success: Validity,
    error: answersTo.read
  })
    .middleware(ServerAction)
    .annotateMerge(OpenApi.annotations({ summary: "Check a grant" }))
] as const

const group = HttpApiGroup.make("draws").annotateMerge(
  OpenApi.annotations({
    title: "Draws",
    description: `Winners drawn by lot from all who entered, so that anyone can check the drawing. ${ServerActions.description}`
  })
)

export class DrawsGroup extends group.add(
  HttpApiEndpoint.get("get", "/draws/:drawId", { params, success: PublicDraw, error: answersTo.read })
    .middleware(PublicRead)
    .annotateMerge(OpenApi.annotations({ summary: "Get a draw" })),
  HttpApiEndpoint.get("proof", "/draws/:drawId/proof", { params, success: Proof, error: [NotFound, Conflict] })
    .middleware(PublicRead)
    .annotateMerge(
      OpenApi.annotations({
        summary: "The proof of a draw",
        description:
          "All that is needed to find the winners again, once the draw has been drawn (409 `NOT_DRAWN` before): `usher verify-draw` does it. Entries are named by their pseudonyms, their weights are in millionths. Some 55 bytes for each entry."
      })
    ),
  ...consumerActions,
  ...serverActions
) {}
