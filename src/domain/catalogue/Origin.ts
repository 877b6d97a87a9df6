/** The origin of a product or a variant that is maintained in another system. */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"
import { text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** The fields an admin sets. */
export const originSettings = {
  primaryExternalId: Schema.optionalKey(text({ maxLength: 500 })),
  primarySourceVendor: Schema.optionalKey(text({ maxLength: 200 })),
  primarySyncSourceId: Schema.optionalKey(Id),
  primaryLastSyncedAt: Schema.optionalKey(Timestamp)
}

/** The fields in responses. */
export const originFields = {
  primaryExternalId: Schema.NullOr(Schema.String),
  primarySourceVendor: Schema.NullOr(Schema.String),
  primarySyncSourceId: Schema.NullOr(Id),
  primaryLastSyncedAt: Schema.NullOr(Timestamp)
}
