/** Security events on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { securityEventDays, securityEventsMax } from "../../domain/organization/Retention.ts"
import { SecurityEventType, securityEventSorts } from "../../domain/organization/SecurityEvent.ts"
import { Id } from "../../domain/values/Ids.ts"
import { text } from "../../domain/values/Text.ts"
import { SentTimestamp, Timestamp } from "../../domain/values/Time.ts"
import { listAnnotations, listQuery, pageOf } from "./Lists.ts"

/** An event, or several that agree within an hour. */
export const SecurityEvent = Schema.Struct({
  id: Id,
  type: SecurityEventType,
  consumerId: Schema.NullOr(Id),
  clientAddress: Schema.NullOr(Schema.String).annotate({
    description: "The client's IP address; for IPv6, its network of 64 bits."
  }),
  details: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])),
  count: Schema.Int.annotate({ description: "How often it happened from `at` to `lastAt`." }),
  at: SentTimestamp,
  lastAt: SentTimestamp
}).annotate({ identifier: "SecurityEvent" })

export class SecurityEventApi extends HttpApiGroup.make("securityEvents")
  .add(
    HttpApiEndpoint.get("listSecurityEvents", "/security-events", {
      query: {
        ...listQuery(securityEventSorts),
        type: Schema.optionalKey(SecurityEventType.annotate({ description: "Only events of this kind." })),
        consumerId: Schema.optionalKey(
          Id.pipe(Schema.annotateEncoded({ description: "Only those of this consumer." }))
        ),
        clientAddress: Schema.optionalKey(
          text({ minLength: 1, maxLength: 64 }).annotate({ description: "Only those of this client address." })
        ),
        from: Schema.optionalKey(
          Timestamp.pipe(
            Schema.annotateEncoded({ description: "Only those that first happened at this time or later." })
          )
        ),
        until: Schema.optionalKey(
          Timestamp.pipe(
            Schema.annotateEncoded({ description: "Only those that first happened at this time or earlier." })
          )
        )
      },
      success: pageOf(SecurityEvent).annotate({ identifier: "SecurityEventPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List security events",
        description:
          "Events about accounts and keys, and refused abuse:\n\n- `sign_in`\n- `lock_out`: wrong tries invalidated a code or " +
          "reached a limit\n- `key_rotation`\n- `code_flood`: one address requests too many codes\n- `sms_refused`\n- " +
          "`challenge_refused`: a wrong solution at the gate for bots\n- `rate_limited`: a request over a limit\n\nEqual " +
          "events within an hour are one event with a `count`. An event is listed within two seconds. Kept for " +
          `${securityEventDays} days, at most ${securityEventsMax.toLocaleString("en")} in live and in test mode each.`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Security events",
      description: "Sign-ins, lock-outs, key rotations and refused abuse."
    })
  ) {}
