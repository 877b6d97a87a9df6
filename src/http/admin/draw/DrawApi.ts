/** Draws on the Admin API: the declaration (interface document 2.8; completions 4, "draw"). */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { Configuration } from "../../../domain/draw/Draw.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"

/** The facts that a draw publishes as it goes on; null before. */
export const publishedFields = {
  seedCommitment: Schema.String.annotate({
    description: "SHA-256 of the seed that decides the draw; the seed itself is published with the proof."
  }),
  entriesDigest: Schema.NullOr(Schema.String).annotate({
    description: "Digest of the list of entries, from when entry has closed."
  }),
  beaconRound: Schema.NullOr(Schema.Int).annotate({
    description:
      "The round of the beacon that the drawing waits for, from when entry has closed; null without a beacon."
  }),
  drawnAt: Schema.NullOr(Schema.String.annotate({ format: "date-time" }))
}

const schemas = schemasOf("Draw", Configuration.fields, ["drawAt", "winnerCount"])

export const drawSchemas = {
  ...schemas,
  Record: Schema.Struct({ ...schemas.Record.fields, ...publishedFields }).annotate({ identifier: "Draw" })
}

export class DrawApi extends mechanismGroup(
  {
    group: "draws",
    noun: "draw",
    aNoun: "a draw",
    name: "Draw",
    creating:
      "Without `openAt` it is open at once; entry ends at `closeAt`, which defaults to `drawAt`. `winnerCount` of the entries are drawn at `drawAt`. `capacity` is the most entries; without `admissionExpirationSeconds` wins do not expire. `continueSelectingUntilCompleted` (false) gives a win that expired or was denied to the next in the drawn order, until `winnerCount` have completed. With `loyaltyBiasEnabled` (false) the weight of an entry is 1 + its consumer's loyalty score, 0 to 1, times `loyaltyWeight` (1). With `riskWeight` (0) that weight is multiplied by 1 − `riskWeight` × the risk score of the entry, and by 0.01 at least; the draw's public view states this rule; `loyaltyWeight` is then at most 9. With `beacon` the drawing waits for the first round of drand's network quicknet after `drawAt`, so that nobody, not even who runs this server, can know the result before. `timeZone` defaults to the experience's, `supportsGuest` to true.",
    changing:
      "`openAt` cannot be changed once it has opened, `loyaltyBiasEnabled`, `loyaltyWeight`, `riskWeight` and `beacon` once someone has entered (409 `CONFIGURATION_FIXED`), and nothing once entry has closed.",
    ending:
      "before the drawing everyone is denied with `DRAW_CLOSED` and nobody wins; a drawing that has begun is finished; after it nobody takes the place of a winner any more. Wins stay valid until they expire."
  },
  drawSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Draws",
    description: "Winners drawn by lot from all who entered, so that anyone can check the drawing."
  })
) {}
