/** Receivers on the Admin API: the declaration (interface document 6). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Outcome, ReceivedStatus, Receiver, Settings } from "../../../domain/receiver/Receiver.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { text } from "../../../domain/values/Text.ts"
import { Timestamp } from "../../../domain/values/Time.ts"
import * as ReceivedEvents from "../../../store/receiver/ReceivedEvents.ts"
import { shape } from "../../../store/receiver/ReceiverRecord.ts"
import { overlapHours } from "../../../store/receiver/Receivers.ts"
import { NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

const Secret = text({ minLength: 16, maxLength: 500 }).annotate({
  description:
    "What the provider signs with: `stripe` the secret of the endpoint (`whsec_…`), `twilio` the auth token, `sendgrid` the verification key, `standard` the secret of the sender. It is never shown."
})

/** The body of `POST /receivers`. */
export const CreateReceiver = Schema.Struct({
  ...createFields(Settings.fields, ["adapter"]),
  secret: Secret
}).annotate({ identifier: "CreateReceiver" })

const { adapter: _, ...changeable } = Settings.fields

/** The body of `PUT /receivers/{id}`. */
export const ChangeReceiver = Schema.Struct({
  ...changeFields(changeable, []),
  secret: Schema.optionalKey(Secret)
}).annotate({ identifier: "ChangeReceiver" })

/** An event in the log of a receiver. */
export const ReceivedEvent = Schema.Struct({
  id: Id,
  eventId: Schema.String.annotate({
    description: "The provider's id. An event is handled once, however often it comes."
  }),
  type: Schema.String,
  status: ReceivedStatus,
  outcome: Schema.NullOr(Outcome).annotate({ description: "What the last attempt led to." }),
  attempts: Schema.Int,
  at: Timestamp.annotate({ description: "When it happened, by the provider's clock." }),
  receivedAt: Timestamp,
  nextAttemptAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "ReceivedEvent" })

const { create, list, get, change, archive, restore } = operationsOn({
  name: "Receiver",
  aNoun: "a receiver",
  path: "receivers",
  record: Receiver
})

/** The operations on receivers. */
const records = [
  create({
    payload: CreateReceiver,
    description:
      "Give the provider the host of the Consumer API and the `path` of the answer. Stripe: the checkout's `client_reference_id` is the `jti` of the grant."
  }),
  list({
    shape,
    search: "adapter and description",
    description: "All that are not archived, or with `archived=true` those that are."
  }),
  get(),
  change({
    payload: ChangeReceiver,
    description: `Send the fields to change. An absent field keeps its value, null removes an optional one. After a new \`secret\` the former one is accepted for ${overlapHours} hours.`
  }),
  archive({ description: "Its path answers 404 from then on. Events that wait are still handled." }),
  restore({ description: "Its path takes events again." })
] as const

const listEvents = HttpApiEndpoint.get("listReceivedEvents", "/receivers/:id/events", {
  params: { id: Id },
  query: { ...listQuery(ReceivedEvents.shape), status: Schema.optionalKey(ReceivedStatus) },
  success: pageOf(ReceivedEvent).annotate({ identifier: "ReceivedEventPage" }),
  error: NotFound
}).annotateMerge(
  listAnnotations({
    summary: "List the events of a receiver",
    description: `What arrived and what it led to. Events are kept for ${ReceivedEvents.keptDays} days.`
  })
)

export class ReceiverApi extends HttpApiGroup.make("receivers")
  .add(...records, listEvents)
  .annotateMerge(
    OpenApi.annotations({
      title: "Receivers",
      description:
        "Paths on the Consumer API's listener at which providers report payments, refunds and what became of messages. A request without the provider's signature is refused with a 401."
    })
  ) {}
