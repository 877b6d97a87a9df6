/** The description of the requests that webhooks receive (OpenAPI 3.1, `webhooks`): one entry for each type of event. */
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
