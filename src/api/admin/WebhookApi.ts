/** Webhooks on the Admin API, and the description of the requests that they receive (OpenAPI 3.1, `webhooks`). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { deliveryDays } from "../../domain/organization/Retention.ts"
import { eventTypes } from "../../domain/webhook/Catalogue.ts"
import { Settings, Webhook, deliverySorts, webhookSorts } from "../../domain/webhook/Webhook.ts"
import { Id } from "../../domain/values/Ids.ts"
import { expectedKey, isKey, SigningSecret } from "../../domain/values/SigningSecret.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { NotFound } from "../Errors.ts"
import { AnswerSecret } from "../Annotations.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { listBelow, operationsOn } from "./RecordApi.ts"
import { batchEventsMax, batchType } from "../../domain/webhook/Batches.ts"
import { describedPayloads, exampleOf, payloadSchemaOf } from "../../domain/webhook/PayloadSchema.ts"
import type { Webhooks } from "../OpenApi.ts"

/** The headers of each request. */
const parameters = [
  ["webhook-id", "The `id` of the body. An id that arrived before is the same event."],
  ["webhook-timestamp", "When the request was sent, in Unix seconds."],
  ["webhook-signature", "One or more signatures `v1,…` of id, timestamp and body, as Standard Webhooks defines them."],
  ["X-Service-Timestamp", "The same as `webhook-timestamp`."],
  ["X-Service-Signature", "`sha256=…`, the HMAC of the body."]
].map(([name, description]) => ({ name, in: "header", required: true, description, schema: { type: "string" } }))

const responses = {
  "2XX": { description: "The event has arrived. The body of the response is ignored." },
  "4XX": { description: "The attempt has failed and is repeated later. A 410 disables the webhook." },
  "5XX": { description: "The attempt has failed and is repeated later." }
}

/** A request with several events. */
const batch = () => {
  const { data: _, ...example } = exampleOf("distribution.joined")
  const { properties, required, ...schema } = payloadSchemaOf("distribution.joined")
  const items = { type: "object", description: "The payload of an event, as the entry of its type describes it." }
  const events = { type: "array", minItems: 1, maxItems: batchEventsMax, items }
  return {
    type: batchType,
    description: 'Several events, for a webhook with `delivery: "batches"`. `sequence` is the first event\'s.',
    schema: {
      type: schema["type"],
      properties: {
        ...properties,
        type: { type: "string", enum: [batchType] },
        data: { type: "object", properties: { events }, required: ["events"] }
      },
      required
    },
    example: {
      ...example,
      id: `${example["id"] as string}_to_7_0_1`,
      type: batchType,
      data: { events: [exampleOf("distribution.joined")] }
    }
  }
}

/** Returns the entries, by type. */
export const describedWebhooks = (): Webhooks =>
  Object.fromEntries(
    [...describedPayloads(), batch()].map(({ type, description, schema, example }) => [
      type,
      {
        post: {
          operationId: type,
          summary: type,
          description,
          tags: ["Webhooks"],
          security: [],
          parameters,
          requestBody: { required: true, content: { "application/json": { schema, example } } },
          responses
        }
      }
    ])
  )

const secretDescription =
  "The key of the signatures. A secret that begins with `whsec_` is Base64; of any other the bytes are the key."

const secretInDescription =
  `${secretDescription} Blanks and line breaks around it are dropped. At least 16 characters, behind \`whsec_\` at ` +
  "least 16 bytes. Default: a new one."

/** The body of `POST /webhooks`. */
export const CreateWebhook = Schema.Struct({
  ...createFields(Settings.fields, ["url", "events"]),
  secret: Schema.optionalKey(
    SigningSecret({ maxLength: 200 })
      .check(
        Schema.makeFilter(isKey, {
          expected: expectedKey,
          representation: { id: "usher/string", payload: null },
          toJsonSchema: () => ({})
        })
      )
      .annotate({ description: secretInDescription })
  )
}).annotate({ identifier: "CreateWebhook" })

/** The body of `PUT /webhooks/{id}`. */
export const ChangeWebhook = Schema.Struct(changeFields(Settings.fields, ["url", "events"])).annotate({
  identifier: "ChangeWebhook"
})

/** The body of `POST /webhooks/{id}/test`. */
export const TestWebhook = Schema.Struct({ type: Schema.optionalKey(Schema.Literals(eventTypes)) }).annotate({
  identifier: "TestWebhook"
})

/** Where a replay begins: with an instant, or with the events that have this number in their journals. */
const ReplayFrom = Schema.Union([
  Schema.Literal("failed"),
  Timestamp,
  Schema.Struct({ sequence: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })) })
])

export const WebhookWithSecret = Schema.Struct({
  ...Webhook.fields,
  secret: Schema.String.annotate({ description: `${secretDescription} Only this response contains it.` })
}).annotate({ identifier: "WebhookWithSecret" })

/** One attempt to deliver an event. */
export const WebhookAttempt = Schema.Struct({
  at: Timestamp,
  durationMillis: Schema.Int,
  statusCode: Schema.NullOr(Schema.Int).annotate({ description: "Null if no response arrived." }),
  body: Schema.String.annotate({ description: "The first 1,024 bytes of the response, or the cause of the failure." })
}).annotate({ identifier: "WebhookAttempt" })

const DeliveryStatus = Schema.Literals(["DELIVERED", "WAITING", "FAILED"])

/** A delivery in the log. */
export const WebhookDelivery = Schema.Struct({
  id: Id,
  eventId: Schema.String,
  type: Schema.String,
  status: DeliveryStatus,
  retryCount: Schema.Int,
  attempts: Schema.Array(WebhookAttempt),
  body: Schema.String.annotate({ description: "The body of the request." }),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotate({ identifier: "WebhookDelivery" })

export const EventTypeList = Schema.Struct({
  data: Schema.Array(Schema.Struct({ type: Schema.Literals(eventTypes), description: Schema.String }))
}).annotate({ identifier: "EventTypeList" })

const params = { id: Id }
const overlapSecondsMax = 604_800

const webhook = operationsOn(Webhook, { name: "Webhook", aNoun: "a webhook", path: "webhooks" })

/** The operations that create, read and change webhooks. */
const records = [
  HttpApiEndpoint.post("createWebhook", "/webhooks", {
    payload: CreateWebhook,
    success: WebhookWithSecret.pipe(HttpApiSchema.status(201))
  })
    .annotateMerge(
      OpenApi.annotations({
        summary: "Create a webhook",
        description:
          "From now on Usher posts events to the address. Requests are signed. Each event is delivered at least once, and " +
          "in order within a lane. Only this response contains the secret."
      })
    )
    .annotate(AnswerSecret, "sealed"),
  webhook.list({
    sorts: webhookSorts,
    search: "the address",
    description: "Lists webhooks that are not archived, or with `archived=true` only archived ones."
  }),
  webhook.get(),
  webhook.change({
    payload: ChangeWebhook,
    description: "Send only the fields to change. An absent field keeps its value; null removes an optional one."
  }),
  webhook.archive({ description: "The webhook gets no more events." }),
  webhook.restore({ description: "The webhook gets the events that it missed." })
] as const

/** The operations on the deliveries of a webhook. */
const deliveries = [
  HttpApiEndpoint.post("enableWebhook", "/webhooks/:id/enable", {
    params,
    payload: Schema.Struct({ from: Schema.optionalKey(Schema.Literals(["cursor", "now"])) }),
    success: Webhook,
    error: NotFound
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Enable a webhook",
      description: "`from`: `cursor` (default) delivers the missed events, `now` begins with the next event."
    })
  ),
  HttpApiEndpoint.post("disableWebhook", "/webhooks/:id/disable", {
    params,
    success: Webhook,
    error: NotFound
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Disable a webhook",
      description: "The webhook gets no events and loses none: they wait until it is enabled."
    })
  ),
  HttpApiEndpoint.post("rotateWebhookSecret", "/webhooks/:id/secret/rotate", {
    params,
    payload: Schema.Struct({
      overlapSeconds: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: overlapSecondsMax })).annotate({
          description: "Seconds for which the former secret also signs. Default 86400, a day."
        })
      )
    }),
    success: WebhookWithSecret,
    error: NotFound
  })
    .annotateMerge(
      OpenApi.annotations({
        summary: "Replace the secret of a webhook",
        description:
          "Until the overlap ends, `webhook-signature` has a signature by each secret. `X-Service-Signature` is by the " +
          "former secret."
      })
    )
    .annotate(AnswerSecret, "sealed"),
  HttpApiEndpoint.post("testWebhook", "/webhooks/:id/test", {
    params,
    payload: [TestWebhook, Schema.Null],
    success: WebhookAttempt,
    error: NotFound
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Send a test event",
      description:
        "Posts an event at once and returns the result. The event is the example of the type, or of type `webhook.test`. " +
        "It is not repeated, and listed with the deliveries. Its id begins with `evt_test_`."
    })
  ),
  listBelow("listWebhookDeliveries", "/webhooks/:id/deliveries", {
    sorts: deliverySorts,
    only: { status: Schema.optionalKey(DeliveryStatus) },
    item: WebhookDelivery,
    page: "WebhookDeliveryPage",
    summary: "List the deliveries of a webhook",
    description: `Lists deliveries with every attempt. Deliveries are kept for ${deliveryDays} days.`
  }),
  HttpApiEndpoint.post("replayWebhook", "/webhooks/:id/replay", {
    params,
    payload: Schema.Struct({
      from: ReplayFrom.annotate({
        description:
          "`failed`: the deliveries that failed permanently, at most 10,000. A time: all events from then on. A `sequence`: " +
          "in each journal the events with this number and later ones."
      })
    }),
    success: Webhook,
    error: NotFound
  }).annotateMerge(
    OpenApi.annotations({
      summary: "Deliver events again",
      description: "The events keep their ids, so a receiver can tell them from new ones."
    })
  ),
  HttpApiEndpoint.get("listEventTypes", "/event-types", { success: EventTypeList }).annotateMerge(
    OpenApi.annotations({ summary: "List the types of events" })
  )
] as const

export class WebhookApi extends HttpApiGroup.make("webhooks")
  .add(...records, ...deliveries)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Addresses of the organization's server to which Usher reports events."
    })
  ) {}
