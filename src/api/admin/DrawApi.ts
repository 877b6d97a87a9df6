/** Draws on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Configuration, declaration } from "../../domain/draw/Draw.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { whyBody } from "./SteeringApi.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"

/** The facts that a draw publishes during its course; null before. */
const publishedFields = {
  seedCommitment: Schema.String.annotate({
    description: "SHA-256 of the seed that decides the draw. The proof contains the seed itself."
  }),
  entriesDigest: Schema.NullOr(Schema.String).annotate({
    description: "Digest of the list of entries, available once entry has closed."
  }),
  beaconRound: Schema.NullOr(Schema.Int).annotate({
    description: "The beacon round that the drawing waits for, available once entry has closed. Null without a beacon."
  }),
  drawnAt: Schema.NullOr(Schema.String.annotate({ format: "date-time" }))
}

export const drawSchemas = schemasOf(declaration, Configuration.fields, ["drawAt", "winnerCount"], publishedFields)

export class DrawApi extends mechanismGroup(
  declaration,
  {
    creating:
      "Without `openAt` the draw is open at once. Entry ends at `closeAt`, which defaults to `drawAt`. `winnerCount` " +
      "entries are drawn at `drawAt`. `capacity` is the most entries. Without `admissionExpirationSeconds` wins do not " +
      "expire. `continueSelectingUntilCompleted` (default false) passes a win that expired or was denied to the next " +
      "in the drawn order, until `winnerCount` have completed. `timeZone` defaults to the experience's, " +
      "`supportsGuest` to true.\n\nWith `loyaltyBiasEnabled` (default false) the weight of an entry is 1 + its " +
      "consumer's loyalty score (0 to 1) × `loyaltyWeight` (default 1). `riskWeight` (default 0) multiplies that " +
      "weight by 1 − `riskWeight` × the entry's risk score, and by at least 0.01. `loyaltyWeight` is then at most 9. " +
      "The draw's public view states this rule.\n\nWith `beacon` the drawing waits for the first round of drand's " +
      "network quicknet after `drawAt`. Then no one, including the operator of this server, can know the result before " +
      "that round.",
    changing:
      "Some settings become fixed (409 `CONFIGURATION_FIXED`): `openAt` after the opening; `loyaltyBiasEnabled`, " +
      "`loyaltyWeight`, `riskWeight` and `beacon` after the first entry; all settings once entry has closed.",
    ending:
      "before the drawing all consumers are denied with `DRAW_CLOSED` and none wins. A drawing that has begun is " +
      "finished. After the drawing no consumer takes the place of a winner any more. Wins stay valid until they expire."
  },
  drawSchemas
)
  .add(
    HttpApiEndpoint.post("drawNow", "/draws/:id/draw", {
      params: { id: Id },
      payload: whyBody,
      success: drawSchemas.Record,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        identifier: "drawNow",
        summary: "Draw before the time",
        description:
          "Entry closes, and the winners are drawn at once; with a `beacon`, by its next round. The record has the new " +
          "`closeAt` and `drawAt`. `reason` is recorded with the author, and `note` is kept in the audit log. A draw that has not opened is a 400, and one whose entry has closed a 409."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Draws",
      description: "Winners are drawn by lot from all consumers that entered. The proof lets anyone check the drawing."
    })
  ) {}
