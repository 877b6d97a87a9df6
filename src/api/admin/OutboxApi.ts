/**
 * Messages that were not sent because no provider is set. It is for development. If every channel has
 * a provider, the path does not exist.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { text } from "../../domain/values/Text.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { NotFound } from "../Errors.ts"

/** A message that would have been sent. */
export const OutboxMessage = Schema.Struct({
  channel: Schema.Literals(["email", "phone"]),
  to: Schema.String,
  subject: Schema.String.annotate({ description: "Email only; SMS ignores it." }),
  text: Schema.String,
  html: Schema.optionalKey(Schema.String).annotate({ description: "For an email with an HTML form." }),
  sentAt: SentTimestamp
}).annotate({ identifier: "OutboxMessage" })

export class OutboxApi extends HttpApiGroup.make("outbox")
  .add(
    HttpApiEndpoint.get("readOutbox", "/outbox", {
      query: {
        to: Schema.optionalKey(
          text({ minLength: 1, maxLength: 320 }).annotate({
            description: "Only messages to this email address or phone number."
          })
        )
      },
      success: Schema.Struct({ data: Schema.Array(OutboxMessage) }).annotate({ identifier: "Outbox" }),
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Read unsent messages",
        description:
          "The latest messages of the organization in this process, newest first, and codes to sign in at the dashboard for " +
          "addresses that no other organization has invited. Available only while `SMTP_URL` or `SMS_PROVIDER_URL` is not " +
          "set, without TLS, and to callers on the same machine; otherwise a 404. In test mode with a test clock: the messages " +
          "that were not sent because of it, for every caller."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Outbox",
      description: "Messages that were not sent because the server runs in development."
    })
  ) {}
