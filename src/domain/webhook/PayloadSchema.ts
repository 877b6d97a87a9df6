/**
 * The schema of each type's payload, derived from the catalogues. A type gets its fields from the rows that report it;
 * the tables below describe each field.
 */
import { Schema } from "effect"
import { OrderStatus } from "../consumer/Order.ts"
import { StaffReason } from "../mechanism/Author.ts"
import { grantingKinds, kinds } from "../mechanism/Mechanism.ts"
import { Outcome } from "../receiver/Receiver.ts"
import { Level } from "../stock/Protocol.ts"
import { Price } from "../values/Amount.ts"
import { Id, Mode } from "../values/Ids.ts"
import { Timestamp } from "../values/Time.ts"
import { descriptionOf, eventsFor, type EventType, eventTypes, reportedEvents } from "./Catalogue.ts"
import { payloadVersion } from "./Payload.ts"
import { reportedChanges } from "./RecordCatalogue.ts"
import { DisabledReason } from "./Webhook.ts"

type Field = Schema.Codec<unknown, unknown>
type Fields = { readonly [name: string]: Field }

const text = (example: string) => Schema.String.annotate({ examples: [example] })

/** One of the values. A union of one is that value. */
const oneOf = (values: ReadonlyArray<string>) =>
  values.length === 1 ? Schema.Literal(values[0]!) : Schema.Literals(values)

/** The fields of `data`, by their names there. */
const fields: Fields = {
  consumer_id: Id,
  distribution_id: Id,
  experience_id: Id,
  sequence_id: Id,
  product_id: Id.annotate({
    description:
      "The product of the variant that the consumer has selected, or the one that the system has assigned to it; else " +
      "the only product of the sequence, or of the experience if the sequence names none. Absent if there are several."
  }),
  variant_id: Id,
  reason: text("ADMIN_ACTION"),
  amount: Price.annotate({ examples: ["129.50"] }),
  close_at: Timestamp,
  expires_at: Timestamp,
  booking_id: text("0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"),
  start_time: Timestamp,
  end_time: Timestamp,
  channel: Schema.Literals(["email", "phone"]),
  changed: Schema.Array(Schema.String).annotate({ examples: [["fullName"]] }),
  name: text("Spring drop"),
  open_at: Timestamp,
  order_id: Id,
  stock_id: Id,
  level: Level.annotate({ examples: ["LOW"] }),
  currency_code: text("EUR"),
  total: Price.annotate({ examples: ["129.50"] }),
  grant_lapsed: Schema.Boolean.annotate({ examples: [true] }),
  receiver_id: Id,
  received_event_id: text("evt_1PqR"),
  webhook_id: Id,
  failed_deliveries: Schema.Int.annotate({ examples: [3] }),
  event_id: text("evt_0199b2a17c3e7d7ab0f20f1e2d3c4b5a_7_0"),
  event_type: text("distribution.admitted")
}

const staffReason = StaffReason.annotate({ examples: ["TECHNICAL_PROBLEM"] })

/** The fields that are something else in one type. */
const fieldsOfType: { readonly [T in EventType]?: Fields } = {
  "distribution.paused": { reason: staffReason },
  "distribution.resumed": { reason: staffReason },
  "order.needs_attention": { reason: Outcome.annotate({ examples: ["GRANT_LAPSED"] }) },
  "webhook.disabled": { reason: DisabledReason }
}

const orderOrigin = ["experience_id", "sequence_id", "distribution_id"]
const windowOfExperience = ["open_at", "close_at"]

/** The fields that can be absent although every event of the type may have them. */
const optionalFields: { readonly [T in EventType]?: ReadonlyArray<string> } = {
  "distribution.denied": ["reason"],
  "distribution.paused": ["reason"],
  "distribution.resumed": ["reason"],
  "distribution.notified": ["channel"],
  "experience.created": windowOfExperience,
  "experience.activated": windowOfExperience,
  "experience.completed": windowOfExperience,
  "experience.cancelled": windowOfExperience,
  "order.created": orderOrigin,
  "order.paid": orderOrigin,
  "order.fulfilled": orderOrigin,
  "order.cancelled": orderOrigin,
  // A payment without an order has none of its fields.
  "order.needs_attention": [
    "order_id",
    "consumer_id",
    ...orderOrigin,
    "status",
    "currency_code",
    "total",
    "grant_lapsed"
  ]
}

/** The types about a mechanism, which name no consumer. */
const ofMechanism: ReadonlySet<EventType> = new Set([
  "distribution.opened",
  "distribution.paused",
  "distribution.resumed",
  "distribution.closed",
  "distribution.ended",
  "distribution.updated",
  "distribution.drawn"
] as const)

const rowsOfRecords = Object.values(reportedChanges).flat()

/** The kinds of mechanisms that report the type. Those that grant come first. */
const kindsOf = (type: EventType) =>
  [...new Set([...grantingKinds, ...kinds])].filter((kind) => eventsFor(kind, [type]).length > 0)

/** The statuses of an order in events of the type. */
const statusesOf = (type: EventType) => [
  ...new Set(
    rowsOfRecords.flatMap((reported) =>
      reported.type !== type ? [] : reported.status === undefined ? OrderStatus.literals : [reported.status]
    )
  )
]

/** Returns the names of the fields that each event of the type reports. */
const rowsOf = (type: EventType): ReadonlyArray<ReadonlyArray<string>> => [
  ...Object.values(reportedEvents)
    .flatMap((events) => Object.values(events).flat())
    .filter((reported) => reported.type === type)
    .map((reported) => [
      ...(ofMechanism.has(type) ? [] : ["consumer_id"]),
      "distribution_id",
      "distribution_type",
      "experience_id",
      "sequence_id",
      "product_id",
      ...Object.values(reported.fields ?? {})
    ]),
  ...rowsOfRecords
    .filter((reported) => reported.type === type)
    .map(({ id, namesChanged, fields: listed = {} }) => [
      ...(id === undefined ? [] : [id]),
      ...(namesChanged === undefined ? [] : ["changed"]),
      ...Object.values(listed)
    ])
]

const dataOf = (type: EventType) => {
  const rows = rowsOf(type)
  const names = [...new Set(rows.flat())]
  const isOptional = (name: string) =>
    name === "product_id" || optionalFields[type]?.includes(name) === true || !rows.every((row) => row.includes(name))
  const own: Fields = {
    distribution_type: oneOf(kindsOf(type)),
    status: oneOf(statusesOf(type)),
    ...fieldsOfType[type]
  }
  const schemaOf = (name: string) => (own[name] ?? fields[name])!
  return Schema.Struct(
    Object.fromEntries(
      names.map((name) => [name, isOptional(name) ? Schema.optionalKey(schemaOf(name)) : schemaOf(name)])
    )
  )
}

const payloadOf = (type: EventType) =>
  Schema.Struct({
    id: text("evt_0199b2a17c3e7d7ab0f20f1e2d3c4b5a_7_0").annotate({
      description: "The same for every attempt and every replay."
    }),
    type: Schema.Literal(type),
    timestamp: Timestamp,
    organization_id: Id,
    version: Schema.Literal(payloadVersion),
    sequence: Schema.Int.annotate({ examples: [7], description: "The number of the event in its journal." }),
    mode: Mode,
    data: dataOf(type)
  }).annotate({ description: descriptionOf(type) })

/** A JSON Schema, as far as examples need it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
  readonly properties?: { readonly [name: string]: JsonSchema }
  readonly enum?: ReadonlyArray<unknown>
  readonly examples?: ReadonlyArray<unknown>
}

/** Returns the JSON Schema of a type's payload. */
export const payloadSchemaOf = (type: EventType): JsonSchema => Schema.toJsonSchemaDocument(payloadOf(type)).schema

/** An example of a payload. */
export interface ExamplePayload {
  readonly [field: string]: unknown
}

/** Returns a payload that matches the schema of the type, with every field that it may have. */
export const exampleOf = (type: EventType): ExamplePayload => valueOf(payloadSchemaOf(type)) as ExamplePayload

const valueOf = (schema: JsonSchema): unknown =>
  schema.properties === undefined
    ? (schema.examples?.[0] ?? schema.enum?.[0])
    : Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, valueOf(property)]))

/** Returns each type with its schema and its example. */
export const describedPayloads = () =>
  eventTypes.map((type) => ({
    type,
    description: descriptionOf(type),
    schema: payloadSchemaOf(type),
    example: exampleOf(type)
  }))
