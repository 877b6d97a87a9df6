/** A message that Usher sent or tried to send: its address, purpose and outcome, without its text. */
import { Schema } from "effect"
import { MessageStatus } from "../receiver/Meaning.ts"
import { Id } from "../values/Ids.ts"
import { SentTimestamp } from "../values/Time.ts"

/** Why a message is sent. */
export const MessagePurpose = Schema.Literals([
  "CODE",
  "GRANT",
  "OPENING",
  "REMINDER",
  "OUTBID",
  "INVITATION",
  "WEBHOOK_FAILURE"
]).annotate({
  description:
    "`CODE` to sign in, `GRANT` to a consumer that was admitted, `OPENING` to a member of a waitlist, `REMINDER` and " +
    "`OUTBID` to a consumer that asked for it, `INVITATION` to the dashboard, `WEBHOOK_FAILURE` to the organization."
})
export type MessagePurpose = typeof MessagePurpose.Type

/** The channel of a message, as a parameter and in responses. */
export const MessageChannel = Schema.Literals(["email", "phone"])

/** The message in responses. */
export const SentMessage = Schema.Struct({
  id: Id,
  channel: MessageChannel,
  address: Schema.NullOr(Schema.String).annotate({
    description: "In lower case. Null if a former release sent the message."
  }),
  purpose: Schema.NullOr(MessagePurpose).annotate({ description: "Null if a former release sent the message." }),
  consumerId: Schema.NullOr(Id).annotate({ description: "Null for a code, and for a message to staff." }),
  status: MessageStatus.annotate({
    description:
      "`SENT` until the provider reports more. `FAILED`: it could not be sent, or did not arrive. A receiver takes the reports."
  }),
  sentAt: SentTimestamp,
  updatedAt: SentTimestamp.annotate({ description: "The time of the last report." })
}).annotate({ identifier: "SentMessage" })
export type SentMessage = typeof SentMessage.Type

/** How the list of sent messages can be sorted. The first is the default. */
export const messageSorts = ["sentAt"] as const
