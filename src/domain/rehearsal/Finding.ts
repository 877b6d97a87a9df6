/** What looks wrong with a drop before it opens, in words, and the record in which it is mended. */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"

/** Each kind of finding. A code stays the same when its words change. */
export const codes = [
  "NO_MECHANISM",
  "SEQUENCE_EMPTY",
  "EXPERIENCE_OVER",
  "MECHANISM_OVER",
  "OPENS_AFTER_EXPERIENCE_CLOSES",
  "CLOSES_BEFORE_EXPERIENCE_OPENS",
  "OPENS_BEFORE_EXPERIENCE",
  "CLOSES_AFTER_EXPERIENCE",
  "OPENS_AT_NIGHT",
  "TIME_ZONE_DIFFERS",
  "RATE_TOO_SLOW",
  "RATE_ZERO",
  "QUEUE_BELOW_UNITS",
  "LOBBY_TOO_SHORT",
  "UNITS_NOT_GIVEN_AGAIN",
  "GRANT_NEVER_EXPIRES",
  "GRANT_TOO_SHORT",
  "DRAW_WITHOUT_BEACON",
  "DRAW_LATE",
  "CURRENCY_DIFFERS",
  "NO_EXTENSION",
  "RESERVE_WITHOUT_EFFECT",
  "PRICE_STAYS_ABOVE_FLOOR",
  "NO_SLOTS",
  "SLOTS_OVER_AT_OPENING",
  "WAITLIST_WITHOUT_OPENING",
  "GUESTS_WITH_ORDER_LIMIT",
  "AUDIENCE_EMPTY",
  "NO_PRODUCT",
  "NO_WAY_TO_SHOP",
  "MORE_UNITS_THAN_STOCK",
  "NO_TAKER",
  "SHARES_ABOVE_STOCK",
  "VARIANT_SOLD_OUT",
  "VARIANT_WITHOUT_PRICE",
  "NOTHING_TO_ASSIGN",
  "ASSIGNED_NOT_OFFERED",
  "TEXT_MISSING",
  "LANGUAGE_UNKNOWN",
  "PAGE_NOT_PUBLISHED",
  "NO_WEBHOOK",
  "WEBHOOK_DISABLED",
  "WINNERS_NOT_TOLD",
  "PLACEHOLDER_UNKNOWN",
  "PLACEHOLDER_MISSING",
  "ANY_ORIGIN"
] as const
export const FindingCode = Schema.Literals(codes)
export type FindingCode = typeof FindingCode.Type

/** Whether the drop cannot work so, or probably was not meant so. */
export const Severity = Schema.Literals(["error", "warning"])
export type Severity = typeof Severity.Type

/** The records that findings are about. */
export const FoundRecord = Schema.Literals([
  "experience",
  "sequence",
  "distribution",
  "product",
  "page",
  "webhook",
  "organization"
])

export const Finding = Schema.Struct({
  code: FindingCode,
  severity: Severity.annotate({
    description: "`error`: the drop cannot work so. `warning`: it was probably not meant so."
  }),
  message: Schema.String,
  record: FoundRecord.annotate({ description: "The kind of the record in which it is mended." }),
  recordId: Schema.NullOr(Id).annotate({ description: "Null if the record has yet to be made." }),
  field: Schema.NullOr(Schema.String).annotate({
    description: "The setting that is mended; null if there are several."
  })
}).annotate({ identifier: "Finding" })
export type Finding = typeof Finding.Type

/** The place of a finding. */
export interface Place {
  readonly record: Finding["record"]
  readonly id?: string
  readonly field?: string
}

const found =
  (severity: Severity) =>
  (code: FindingCode, message: string, { record, id, field }: Place): Finding => ({
    code,
    severity,
    message,
    record,
    recordId: id ?? null,
    field: field ?? null
  })

/** Makes findings. */
export const error = found("error")
export const warning = found("warning")
