/**
 * The one error for a record that is unknown, archived or another tenant's. A caller cannot distinguish these cases.
 */
import { Schema } from "effect"

/** The tenant has no such record. 404 `{error: "<record> not found"}` */
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
    "Picture",
    "Font",
    "Product",
    "Variant",
    "Variant option",
    "Variant option value",
    "Order",
    "Stock",
    "Webhook",
    "Receiver",
    "Gate",
    "Person",
    "Message",
    "Stopped address",
    "Test clock",
    "Rehearsal"
  ])
}) {}
