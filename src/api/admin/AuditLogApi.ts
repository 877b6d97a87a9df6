/** The audit log on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { auditLogDays } from "../../domain/organization/Retention.ts"
import { TenantEventType, auditLogSorts } from "../../domain/organization/TenantEvent.ts"
import { Id } from "../../domain/values/Ids.ts"
import { text } from "../../domain/values/Text.ts"
import { SentTimestamp, Timestamp } from "../../domain/values/Time.ts"
import { listAnnotations, listQuery, pageOf } from "./Lists.ts"

const values = Schema.Record(Schema.String, Schema.Json)

/** One change of one record. */
export const AuditEvent = Schema.Struct({
  sequence: Schema.Int.annotate({ description: "Number of the event within the live or the test mode, without gaps." }),
  at: SentTimestamp,
  type: TenantEventType,
  actor: Schema.String.annotate({
    description:
      "`api_key:<id>`, `consumer:<id>`, `receiver:<id>`, `gate:<id>`, `rehearsal:<id>`, `operator:<id>` (a person of the dashboard), `operator` or `system`."
  }),
  subjectId: Id.annotate({ description: "The record that changed." }),
  changed: Schema.Array(Schema.String).annotate({
    description:
      "The fields that changed. Not all of them are in `before` and `after`. Empty if data below the record was sent " +
      "again, such as the products of an experience."
  }),
  before: values,
  after: values
}).annotate({ identifier: "AuditEvent" })

export class AuditLogApi extends HttpApiGroup.make("auditLog")
  .add(
    HttpApiEndpoint.get("listAuditLog", "/audit-log", {
      query: {
        ...listQuery(auditLogSorts),
        type: Schema.optionalKey(TenantEventType.annotate({ description: "Only events of this type." })),
        actor: Schema.optionalKey(
          text({ minLength: 1, maxLength: 64 }).annotate({ description: "Only actions of this actor." })
        ),
        subjectId: Schema.optionalKey(
          Id.pipe(Schema.annotateEncoded({ description: "Only events about this record." }))
        ),
        from: Schema.optionalKey(
          Timestamp.pipe(Schema.annotateEncoded({ description: "Only events at this time or later." }))
        ),
        until: Schema.optionalKey(
          Timestamp.pipe(Schema.annotateEncoded({ description: "Only events at this time or earlier." }))
        )
      },
      success: pageOf(AuditEvent).annotate({ identifier: "AuditEventPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List the audit log",
        description:
          "Who changed which record, when, and its values before and after. It covers records, settings, mechanisms' " +
          "settings, keys, webhooks, receivers and gates. It omits secrets, addresses, long texts, free-form objects and all " +
          "values of consumers. A change of the organization is listed in both modes. Actions of consumers are in the " +
          `history of each mechanism. Kept for ${auditLogDays} days.`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Audit log",
      description: "Changes of records, with their authors."
    })
  ) {}
