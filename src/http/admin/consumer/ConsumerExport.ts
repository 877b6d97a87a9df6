/** The stored data about a consumer, as the Admin API exports it. */
import { Schema } from "effect"
import { Consumer } from "../../../domain/consumer/Consumer.ts"
import { Order } from "../../../domain/consumer/Order.ts"
import { kinds } from "../../../domain/mechanism/Mechanism.ts"
import { ownFields, placeFields } from "../../../domain/mechanism/PlaceFields.ts"
import { MessageStatus } from "../../../domain/receiver/Meaning.ts"
import { Risk } from "../../../domain/risk/Risk.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"

export const ConsumerExport = Schema.Struct({
  consumer: Consumer,
  identities: Schema.Array(
    Schema.Struct({ provider: Schema.String, issuer: Schema.String, subject: Schema.String, createdAt: SentTimestamp })
  ),
  sessions: Schema.Array(Schema.Struct({ id: Id, createdAt: SentTimestamp, expiresAt: SentTimestamp })),
  audiences: Schema.Array(Schema.Struct({ id: Id, name: Schema.String, addedAt: SentTimestamp })),
  places: Schema.Array(
    Schema.Struct({
      distributionId: Id,
      distributionType: Schema.Literals(kinds),
      status: placeFields.status,
      enteredAt: SentTimestamp,
      updatedAt: SentTimestamp,
      fields: Schema.Struct({ ...ownFields, risk: Schema.optionalKey(Risk) })
    })
  ),
  events: Schema.Array(
    Schema.Struct({ distributionId: Id, type: Schema.String, at: SentTimestamp, data: Schema.Unknown })
  ),
  orders: Schema.Array(Order),
  messages: Schema.Array(
    Schema.Struct({
      channel: Schema.String,
      address: Schema.NullOr(Schema.String),
      purpose: Schema.NullOr(Schema.String),
      status: MessageStatus,
      sentAt: SentTimestamp
    })
  ),
  securityEvents: Schema.Array(
    Schema.Struct({
      type: Schema.String,
      clientAddress: Schema.NullOr(Schema.String),
      at: SentTimestamp,
      count: Schema.Int
    })
  ),
  isComplete: Schema.Boolean
}).annotate({ identifier: "ConsumerExport" })
