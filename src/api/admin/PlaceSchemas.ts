/** The place of a consumer in a mechanism, as the lists of the Admin API show it. */
import { Schema } from "effect"
import { placeFields } from "../../domain/mechanism/PlaceFields.ts"
import { Risk } from "../../domain/risk/Risk.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Timestamp } from "../../domain/values/Time.ts"

/** One consumer's standing. */
export const DistributionConsumer = Schema.Struct({
  consumerId: Id,
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  fullName: Schema.NullOr(Schema.String),
  enteredAt: Timestamp,
  updatedAt: Timestamp,
  risk: Risk.annotate({
    description:
      "How strongly the entry suggests a program: a score from 0 to 1, with its reasons. It has no effect unless a " +
      "draw or a queue sets `riskWeight`."
  }),
  ...placeFields,
  slotId: Schema.optionalKey(Id).annotateKey({ description: "Of an appointment: the slot that is booked." })
}).annotate({ identifier: "DistributionConsumer" })
