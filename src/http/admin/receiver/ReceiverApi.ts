/** Receivers on the Admin API: the declaration (interface document 6). */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { Outcome, ReceivedStatus, Receiver, Settings } from "../../../domain/receiver/Receiver.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { SigningSecret } from "../../../domain/values/SigningSecret.ts"
import { Timestamp } from "../../../domain/values/Time.ts"
import * as ReceivedEvents from "../../../store/receiver/ReceivedEvents.ts"
import { shape } from "../../../store/receiver/ReceiverRecord.ts"
import { overlapHours } from "../../../store/receiver/Receivers.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { listBelow, operationsOn } from "../records/RecordApi.ts"

const Secret = SigningSecret({ maxLength: 500 }).annotate({
  description:
    "The key with which the provider signs. It is the secret of the endpoint (`whsec_…`) for `stripe`, the auth " +
    "token for `twilio`, the verification key for `sendgrid`, and the secret of the sender for `standard`: behind " +
    "`whsec_` it is Base64. Blanks and line breaks around it are dropped. At least 16 characters. It is never returned."
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
    description: "The provider's id. An event with the same id is handled once."
  }),
  type: Schema.String,
  status: ReceivedStatus,
  outcome: Schema.NullOr(Outcome).annotate({ description: "The result of the last attempt." }),
  attempts: Schema.Int,
  at: Timestamp.annotate({ description: "The time of the event, by the provider's clock." }),
  receivedAt: Timestamp,
  nextAttemptAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "ReceivedEvent" })

const receiver = operationsOn(Receiver, { name: "Receiver", aNoun: "a receiver", path: "receivers" })

/** The operations on receivers. */
const records = [
  receiver.create({
    payload: CreateReceiver,
    description:
      "Give the provider the host of the Consumer API and the `path` of the response. With Stripe, set the checkout's " +
      "`client_reference_id` to the `jti` of the grant."
  }),
  receiver.list({
    shape,
    search: "adapter and description",
    description: "Lists receivers that are not archived, or with `archived=true` only archived ones."
  }),
  receiver.get(),
  receiver.change({
    payload: ChangeReceiver,
    description:
      "Send only the fields to change. An absent field keeps its value; null removes an optional one. After a new " +
      `\`secret\` the former one is accepted for ${overlapHours} hours.`
  }),
  receiver.archive({ description: "Its path then answers 404. Waiting events are still handled." }),
  receiver.restore({ description: "Its path accepts events again." })
] as const

const listEvents = listBelow("listReceivedEvents", "/receivers/:id/events", {
  shape: ReceivedEvents.shape,
  only: { status: Schema.optionalKey(ReceivedStatus) },
  item: ReceivedEvent,
  page: "ReceivedEventPage",
  summary: "List the events of a receiver",
  description: `Lists received events and their results. Events are kept for ${ReceivedEvents.keptDays} days.`
})

export class ReceiverApi extends HttpApiGroup.make("receivers")
  .add(...records, listEvents)
  .annotateMerge(
    OpenApi.annotations({
      title: "Receivers",
      description:
        "Paths on the Consumer API's listener at which providers report payments, refunds and the delivery of messages. " +
        "A request without the provider's signature is refused with a 401."
    })
  ) {}
