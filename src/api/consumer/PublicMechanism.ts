/** The fields of the public view of a mechanism of any kind. */
import { Schema } from "effect"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"

const commonFields = {
  id: Id,
  experienceId: Id,
  sequenceId: Id,
  name: Schema.String,
  timeZone: Schema.String,
  openAt: Schema.NullOr(SentTimestamp),
  closeAt: Schema.NullOr(SentTimestamp)
}

const statusFields = {
  lifecycle: Schema.Literals(["scheduled", "open", "settling", "closed"]),
  statusOverride: Schema.NullOr(Schema.Literal("ended")),
  statusOverrideAt: Schema.NullOr(SentTimestamp),
  statusOverrideBy: Schema.NullOr(Schema.String),
  teardownStatus: Schema.NullOr(Schema.Literals(["pending", "completed"]))
}

/** The fields of a kind's public view, given its own fields. These may replace a common field. */
export const publicFields = <F extends Schema.Struct.Fields>(own: F) => ({ ...commonFields, ...own, ...statusFields })
