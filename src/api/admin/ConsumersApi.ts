/** Consumers on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { sessionSorts, SessionType } from "../../domain/consumer/Session.ts"
import { Country, PhoneText } from "../Addresses.ts"
import { createFields } from "./Payloads.ts"
import {
  Consumer,
  consumersAtOnceMax,
  ConsumerType,
  Settings,
  consumerSorts,
  exportedMax,
  exportedJournalsMax
} from "../../domain/consumer/Consumer.ts"
import { kinds } from "../../domain/mechanism/Mechanism.ts"
import { placeFields, consumerPlaceSorts, ownFields } from "../../domain/mechanism/PlaceFields.ts"
import { Risk } from "../../domain/risk/Risk.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Timestamp, SentTimestamp } from "../../domain/values/Time.ts"
import { EmailText } from "../../domain/values/Email.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { EndedSessions, sessionFields } from "../Sessions.ts"
import { listBelow, operationsOn } from "./RecordApi.ts"
import { Order } from "../../domain/consumer/Order.ts"
import { MessageStatus } from "../../domain/receiver/Meaning.ts"

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
  alerts: Schema.Array(
    Schema.Struct({ topic: Schema.String, subjectId: Id, language: Schema.String, createdAt: SentTimestamp })
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

/** The settings of a consumer, in bodies that create or change it. */
export const ConsumerSettings = Schema.Struct({
  ...createFields(Settings.fields, []),
  email: Schema.optionalKey(Schema.NullOr(EmailText)),
  phone: Schema.optionalKey(Schema.NullOr(PhoneText)),
  defaultCountry: Schema.optionalKey(Schema.NullOr(Country))
}).annotate({ identifier: "ConsumerSettings" })

/** The body of `POST /consumers/batch`. */
export const ConsumerBatch = Schema.Struct({
  consumers: Schema.Array(ConsumerSettings).check(Schema.isMinLength(1), Schema.isMaxLength(consumersAtOnceMax))
}).annotate({ identifier: "ConsumerBatch" })

/** A session that has not ended. */
export const Session = Schema.Struct(sessionFields).annotate({ identifier: "Session" })

export const ConsumerPlace = Schema.Struct({
  distributionId: Id,
  type: Schema.Literals(kinds),
  experienceId: Id,
  sequenceId: Id,
  name: Schema.String.annotate({ description: "The mechanism's." }),
  archived: Schema.Boolean.annotate({ description: "Whether the mechanism is archived." }),
  enteredAt: Timestamp,
  updatedAt: Timestamp,
  risk: Risk,
  ...placeFields
}).annotate({ identifier: "ConsumerPlace" })

const params = { id: Id }

const taken =
  "An email, phone number or external id of another consumer is refused (409 `EMAIL_TAKEN`, `PHONE_TAKEN`, `EXTERNAL_ID_TAKEN`)."

const consumer = operationsOn(Consumer, { name: "Consumer", aNoun: "a consumer", path: "consumers" })

export class ConsumersApi extends HttpApiGroup.make("consumers")
  .add(
    consumer.create({
      payload: ConsumerSettings,
      error: Conflict,
      description: `An authenticated consumer, who can sign in with its email or phone number. ${taken}`
    }),
    consumer.list({
      sorts: consumerSorts,
      search: "email, phone and full name; or a whole id or external id",
      only: { type: Schema.optionalKey(ConsumerType) },
      description:
        "Lists consumers that are not archived, guests included, or with `archived=true` only archived ones. Consumers " +
        "without a value of the sort field come first. `totalOrderValue` sorts by orders in the organization's currency; " +
        "`totalOrderValues` has the other currencies."
    }),
    HttpApiEndpoint.post("upsertConsumers", "/consumers/batch", {
      payload: ConsumerBatch,
      success: Schema.Struct({ data: Schema.Array(Consumer) }).annotate({ identifier: "Consumers" })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create and change many consumers",
        description:
          "Imports all rows or none, and returns the consumers in the order of the rows. A row changes the consumer with " +
          "its external id, else with its email, else with its phone number. Only the fields of the row change. Without " +
          "such a consumer the row creates one. Two rows for the same consumer, or a row whose fields name different " +
          "consumers, are a 400 that names them."
      })
    ),
    consumer.get(),
    consumer.change({
      payload: ConsumerSettings,
      error: [NotFound, Conflict],
      description: `Send only the fields to change. An absent field keeps its value; null removes it. ${taken}`
    }),
    HttpApiEndpoint.delete("archiveConsumer", "/consumers/:id", {
      params,
      query: {
        erase: Schema.optionalKey(
          Schema.Boolean.annotate({ description: "`true` also erases the consumer. This cannot be undone." })
        )
      },
      success: Consumer,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive or erase a consumer",
        description:
          "Returns the archived record. The consumer's tokens stop working everywhere.\n\nIt loses its places. Where it " +
          "waits it has `LEFT`. Its grants, wins and bids are `DENIED` with `ADMIN_ACTION`; in an auction the next best " +
          "bid leads instead. A booking is `CANCELLED`. A request that fails with a 503 can be repeated, and continues. " +
          "Another consumer can then take its email, phone number and external id.\n\n`erase=true` also deletes personal " +
          "data, and accepts consumers that are archived already. It deletes addresses, names, external id, attributes, " +
          "metadata, identities, sessions, audiences, security events, and the metadata of orders. Orders keep their " +
          "items, numbers and sums. Histories keep the consumer's id, which then leads to no person."
      })
    ),
    HttpApiEndpoint.get("exportConsumer", "/consumers/:id/export", {
      params,
      success: ConsumerExport,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Export the data of a consumer",
        description:
          "For a data request by a consumer, also an archived one. Each list has the newest " +
          `${exportedMax.toLocaleString("en")} entries. Events come from the ${exportedJournalsMax} mechanisms that the ` +
          "consumer entered last. `isComplete` is false if entries are left out."
      })
    ),
    listBelow("listConsumerSessions", "/consumers/:id/sessions", {
      sorts: sessionSorts,
      only: { type: Schema.optionalKey(SessionType) },
      item: Session,
      page: "SessionPage",
      summary: "List a consumer's sessions",
      description: "Lists sessions that have not ended, also those of a guest."
    }),
    listBelow("listConsumerPlaces", "/consumers/:id/places", {
      sorts: consumerPlaceSorts,
      only: {
        type: Schema.optionalKey(
          Schema.Literals(kinds).annotate({
            description: "Only places in mechanisms of this kind."
          })
        ),
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only places in this experience." })),
        active: Schema.optionalKey(Schema.Boolean)
      },
      item: ConsumerPlace,
      page: "ConsumerPlacePage",
      summary: "List a consumer's places",
      description:
        "Lists places in mechanisms of every kind, archived ones included, as last recorded. Each item has the common " +
        "fields and those of its status. The request looks up each of the organization's mechanisms, or with " +
        "`active=true` each that is not over."
    }),
    HttpApiEndpoint.delete("endConsumerSessions", "/consumers/:id/sessions", {
      params,
      success: EndedSessions,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "End all of a consumer's sessions",
        description:
          "Ends them at once on every server, with their refresh tokens. The consumer may sign in again and keeps its " +
          "places. A guest cannot return to its places."
      })
    ),
    HttpApiEndpoint.delete("endConsumerSession", "/consumers/:id/sessions/:sessionId", {
      params: { ...params, sessionId: Id },
      success: Session,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "End a session of a consumer",
        description: "Ends it at once on every server, with its refresh token. Returns the session."
      })
    )
  )
  .add(
    consumer.restore({
      error: [NotFound, Conflict],
      description:
        "The consumer can sign in again. Its former sessions have ended, except those of a guest, which has no other way " +
        "to sign in. It is refused if another consumer now has its email, phone number or external id (409 " +
        "`EMAIL_TAKEN`, `PHONE_TAKEN`, `EXTERNAL_ID_TAKEN`)."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Consumers",
      description:
        "All consumers of the organization, guests included: names and addresses, loyalty, and totals of orders."
    })
  ) {}
