/**
 * The one answer for a record that is unknown, archived or another tenant's; the three cannot be told apart.
 */
import { Schema } from "effect"

/** No such record, as far as this tenant is concerned. 404 `{error: "<record> not found"}` */
export class RecordNotFound extends Schema.TaggedError<RecordNotFound>()("RecordNotFound", {
  record: Schema.Literals([
    "Experience",
    "Experience page",
    "Sequence",
    "Audience",
    "Consumer",
    "Session",
    "Queue",
    "Distribution",
    "Sync source",
    "Media asset",
    "Product",
    "Variant",
    "Variant option",
    "Variant option value",
    "Order"
  ])
}) {}
