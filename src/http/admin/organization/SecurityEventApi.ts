/** Security events on the Admin API: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { SecurityEventType } from "../../../domain/organization/SecurityEvent.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { text } from "../../../domain/values/Text.ts"
import { SentTimestamp, Timestamp } from "../../../domain/values/Time.ts"
import { eventsMax, retentionDays } from "../../../store/organization/SecurityEventRetention.ts"
import * as SecurityEvents from "../../../store/organization/SecurityEvents.ts"
import { listAnnotations, listQuery, pageOf } from "../records/Lists.ts"

/** An event, or several that agree within an hour. */
export const SecurityEvent = Schema.Struct({
  id: Id,
  type: SecurityEventType,
  consumerId: Schema.NullOr(Id),
  clientAddress: Schema.NullOr(Schema.String).annotate({
    description: "The client's IP address; of IPv6, its network of 64 bits."
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
        ...listQuery(SecurityEvents.shape),
        type: Schema.optionalKey(SecurityEventType.annotate({ description: "Only events of this kind." })),
        consumerId: Schema.optionalKey(
          Id.pipe(Schema.annotateEncoded({ description: "Only those of this consumer." }))
        ),
        clientAddress: Schema.optionalKey(
          text({ minLength: 1, maxLength: 64 }).annotate({ description: "Only those of this client address." })
        ),
        from: Schema.optionalKey(
          Timestamp.pipe(Schema.annotateEncoded({ description: "Only those that first happened then or later." }))
        ),
        until: Schema.optionalKey(
          Timestamp.pipe(Schema.annotateEncoded({ description: "Only those that first happened then or earlier." }))
        )
      },
      success: pageOf(SecurityEvent).annotate({ identifier: "SecurityEventPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List security events",
        description:
          "What happened to accounts and keys, and which abuse was refused: `sign_in`, `lock_out` (a code that died of wrong " +
          "tries, or a limit on tries), `key_rotation`, `code_flood` (more codes asked for than one address gets), " +
          "`sms_refused`, `challenge_refused` (a solution that does not pass the gate for bots), `rate_limited` (a request " +
          "over a limit). Events that agree are one, for each hour, with a `count`. An event is listed within a second or two. " +
          `Kept for ${retentionDays} days, at most ${eventsMax.toLocaleString("en")} in live and in test mode each.`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Security events",
      description: "Sign-ins, lock-outs, rotations and refused abuse, for the organization to see."
    })
  ) {}
