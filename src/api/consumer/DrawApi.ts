/** Draws on the Consumer API. */
import { Schema, Struct, Tuple } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AdminReason } from "../../domain/mechanism/Denial.ts"
import { DenialReason, Proof, declaration } from "../../domain/draw/Draw.ts"
import { riskRuleFields } from "../../domain/risk/RiskWeight.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ConsumerAction, PublicRead } from "../Credentials.ts"
import { RateCategory } from "../Annotations.ts"
import { mechanismErrors } from "../MechanismErrors.ts"
import { alreadyCompleted, completing, serverActions } from "./Grants.ts"
import { publicFields } from "./PublicMechanism.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { asOf } from "./AsOf.ts"
import { endpointsOf, grantEndpointsOf } from "./MechanismApi.ts"
import { count, instant, isFull } from "./LiveFields.ts"

/** The public view of a draw. */
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
    ...riskRuleFields,
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

/** A draw in a list, without the facts that it publishes. Only its own read shows them. */
export const ListedDraw = PublicDraw.mapFields(
  Struct.omit(["seedCommitment", "entriesDigest", "beaconRound", "drawnAt"])
).annotate({ identifier: "SequenceDraw" })

/** The facts of its own that an experience's live page shows. */
export const liveDraw = {
  isFull,
  winnerCount: count("Entries that will be drawn."),
  drawAt: instant,
  drawnAt: instant
}

/** The name of the entry in the list of entries and in the proof. */
const entryId = Schema.String

const drawnAt = Schema.optionalKey(
  SentTimestamp.annotate({
    description:
      "The time of the drawing; absent before. A consumer that has not won and is not `DENIED` may still replace a " +
      "winner."
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
    /** Only in the answer to entering. */
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
    alreadyCompleted,
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
])
  .mapMembers(Tuple.map(Schema.fieldsAssign({ asOf })))
  .annotate({ identifier: "DrawState" })
export type DrawState = typeof DrawState.Type

/** The entry that was withdrawn. The consumer's status is NOT_ENTERED from then on. */
export const Withdrawn = Schema.Struct({
  status: Schema.Literal("ENTERED"),
  leftAt: SentTimestamp
}).annotate({ identifier: "DrawEntryWithdrawn" })

const params = { drawId: Id }

const group = HttpApiGroup.make(declaration.group).annotateMerge(
  OpenApi.annotations({
    title: "Draws",
    description:
      "Winners are drawn by lot from all consumers that entered. The proof lets anyone check the drawing. " +
      serverActions
  })
)

/** Where the kind is found, and how it is seen. */
export const location = {
  path: declaration.path,
  param: declaration.parameter,
  State: DrawState,
  Public: PublicDraw
} as const
const draw = endpointsOf(location)
const grant = grantEndpointsOf({ ...location, Reason: AdminReason })

const says = (summary: string, description: string) => OpenApi.annotations({ summary, description })

export class DrawsGroup extends group.add(
  draw.get.annotate(OpenApi.Summary, "Get a draw"),
  HttpApiEndpoint.get("proof", "/draws/:drawId/proof", { params, success: Proof, error: [NotFound, Conflict] })
    .middleware(PublicRead)
    .annotateMerge(
      says(
        "The proof of a draw",
        "The data from which a caller can compute the winners again, after the drawing (409 `NOT_DRAWN` before). `usher " +
          "verify-draw` computes them. Entries are named by their pseudonyms, and weights are in millionths. About 55 " +
          "bytes for each entry."
      )
    ),
  draw.enter
    .annotate(RateCategory, "drawEntry")
    .annotateMerge(
      says(
        "Enter a draw",
        "Allowed from `openAt` to `closeAt`. `entryReceipt` is a signed token that names the accepted entry and its " +
          "time. Keep it, to show that the entry must be in the list. Entering again changes nothing."
      )
    ),
  HttpApiEndpoint.post("leave", "/draws/:drawId/leave", { params, success: Withdrawn, error: mechanismErrors.change })
    .middleware(ConsumerAction)
    .annotateMerge(
      says(
        "Leave a draw",
        "Withdraws the entry, until it has been drawn. 409 `ALREADY_GRANTED`: it has won. 409 `NOT_ENTERED`: the " +
          "consumer has no entry."
      )
    ),
  draw.status.annotate(OpenApi.Summary, "The consumer's standing"),
  draw.events.annotate(OpenApi.Summary, "Follow the consumer's standing"),
  grant.deny.annotateMerge(
    says(
      "Deny an entry, or a win",
      "With `continueSelectingUntilCompleted` a denied win passes to the next entry in the drawn order. The proof " +
        "names entries that were denied after entry closed."
    )
  ),
  grant.complete.annotateMerge(says("Complete a win", completing)),
  grant.validate.annotate(OpenApi.Summary, "Check a grant")
) {}
