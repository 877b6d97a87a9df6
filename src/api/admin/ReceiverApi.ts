/** Receivers on the Admin API. */
import { Schema } from "effect"
import { HttpApiGroup, OpenApi } from "effect/http-api"
import { receivedEventDays } from "../../domain/organization/Retention.ts"
import {
  Outcome,
  ReceivedStatus,
  Receiver,
  Settings,
  receivedEventSorts,
  receiverSorts,
  secretOverlapHours
} from "../../domain/receiver/Receiver.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SigningSecret } from "../../domain/values/SigningSecret.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { listBelow, operationsOn } from "./RecordApi.ts"

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
      "`client_reference_id` to the `jti` of the grant. It cannot be guessed: only who has seen the grant's token can name " +
      "the grant.\n\nWhat a checkout has paid is compared with what is asked, amount and currency. If the grant has an " +
      "order, its `total` is asked, or the sum of its items. Without an order, or with one that has neither, the grant's " +
      "price is asked: the winning bid of an auction, and else the price of the variant that the grant is for, in the " +
      "currency of the experience. That is the selected variant, or else the one price that all variants have that the " +
      "grant may be for: those of the product that the system has assigned, of the timed release's `variantIds`, or of " +
      "the experience's products. If they have several prices, or one has none, no price is known, and any signed amount " +
      "completes the grant. A shop that sells at several prices, several pieces or with fees in one checkout creates " +
      "the order itself, with its `total`, before the payment.\n\nA payment of something else changes neither order nor " +
      "grant, and needs attention (`AMOUNT_DIFFERS`). `allowedAdjustments` lets shipping, tax and discounts make a " +
      "difference. A checkout that needs no payment counts as a payment of 0. A second payment for a grant " +
      "(`GRANT_HAS_ANOTHER_ORDER`) and one for an order that the shop has cancelled (`PAID_AFTER_CANCELLATION`) need " +
      "attention too; a refund cancels only the order that its payment has paid.\n\nA receiver takes events of its own " +
      "mode: a live receiver refuses Stripe's test events, and a test receiver refuses live ones (400 `WRONG_MODE`)."
  }),
  receiver.list({
    sorts: receiverSorts,
    search: "adapter and description",
    description: "Lists receivers that are not archived, or with `archived=true` only archived ones."
  }),
  receiver.get(),
  receiver.change({
    payload: ChangeReceiver,
    description:
      "Send only the fields to change. An absent field keeps its value; null removes an optional one. After a new " +
      `\`secret\` the former one is accepted for ${secretOverlapHours} hours.`
  }),
  receiver.archive({ description: "Its path then answers 404. Waiting events are still handled." }),
  receiver.restore({ description: "Its path accepts events again." })
] as const

const listEvents = listBelow("listReceivedEvents", "/receivers/:id/events", {
  sorts: receivedEventSorts,
  only: { status: Schema.optionalKey(ReceivedStatus) },
  item: ReceivedEvent,
  page: "ReceivedEventPage",
  summary: "List the events of a receiver",
  description: `Lists received events and their results. Events are kept for ${receivedEventDays} days.`
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
