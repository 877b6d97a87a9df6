/** The webhook: an address of an organization's server that Usher reports events to. */
import { Schema } from "effect"
import { recordSchema } from "../values/Record.ts"
import { text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"
import { eventTypes } from "./Catalogue.ts"

/** Types that one endpoint subscribes to, at most. */
const eventsMax = 50

/** How the events of a webhook wait for each other. */
export const Ordering = Schema.Literals(["consumer", "distribution", "none"]).annotate({
  description:
    "`consumer`: the events of one consumer in one mechanism arrive in order. `distribution`: all events of a mechanism do. `none`: no event waits for another."
})
export type Ordering = typeof Ordering.Type

/** How often a failed delivery is repeated. */
export const RetrySchedule = Schema.Literals(["standard", "extended"]).annotate({
  description:
    "`standard`: six attempts, at once and after 1 min, 5 min, 30 min, 2 h and 12 h. `extended`: four more, after 14, 20, 24 and 24 h."
})
export type RetrySchedule = typeof RetrySchedule.Type

/** How many events one request contains. */
export const DeliveryForm = Schema.Literals(["single", "batches"]).annotate({
  description:
    "`single`: one event in each request. `batches`: up to 100 events or 256 kB in one request of type `events.batch`. One answer is for all of them, so a batch that fails holds other lanes too."
})
export type DeliveryForm = typeof DeliveryForm.Type

/** Requests to an endpoint at the same time, if its webhook does not say. */
export const requestsAtOnceDefault = 10

/** The most that a webhook can ask for. */
const requestsAtOnceMax = 100
const requestsPerSecondMax = 1_000

/** The fields an admin sets, apart from the secret. */
export const Settings = Schema.Struct({
  url: text({ minLength: 1, maxLength: 2_000 }).annotate({
    description: "An `https` address with a host name. Its host must resolve to public addresses only.",
    examples: ["https://shop.example.com/usher"]
  }),
  events: Schema.Array(Schema.Literals(eventTypes)).check(Schema.isMinLength(1), Schema.isMaxLength(eventsMax)),
  description: Schema.optionalKey(text({ maxLength: 500 })),
  ordering: Schema.optionalKey(Ordering),
  schedule: Schema.optionalKey(RetrySchedule),
  delivery: Schema.optionalKey(DeliveryForm),
  requestsAtOnce: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: requestsAtOnceMax })).annotate({
      description: `Requests at the same time. Default ${requestsAtOnceDefault}. Fewer while the endpoint answers 429, 502 or 504.`
    })
  ),
  requestsPerSecond: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: requestsPerSecondMax })).annotate({
      description: "The most requests a second. Default: as fast as the endpoint answers."
    })
  )
})
export type Settings = typeof Settings.Type

/** Why a webhook receives nothing for now. */
export const DisabledReason = Schema.Literals(["ADMIN_ACTION", "GONE", "FAILING"]).annotate({
  description: "`GONE`: the endpoint answered 410. `FAILING`: no delivery succeeded for five days."
})

/** The webhook in responses. */
export const Webhook = recordSchema("Webhook", {
  url: Schema.String,
  events: Schema.Array(Schema.Literals(eventTypes)),
  description: Schema.NullOr(Schema.String),
  ordering: Ordering,
  schedule: RetrySchedule,
  delivery: DeliveryForm,
  requestsAtOnce: Schema.Int,
  requestsPerSecond: Schema.NullOr(Schema.Int),
  status: Schema.Literals(["ENABLED", "DISABLED"]),
  disabledReason: Schema.NullOr(DisabledReason),
  failingSince: Schema.NullOr(Timestamp)
})
export type Webhook = typeof Webhook.Type

/** How the list of deliveries of a webhook can be sorted. The first is the default. */
export const deliverySorts = ["createdAt"] as const

/** How the list of webhooks can be sorted. The first is the default. */
export const webhookSorts = ["createdAt", "url"] as const

/** People who get a mail about one webhook, at most. */
export const failureRecipientsMax = 10

/** How the id of a test event begins. It is sent once and by hand, and never again. */
export const testEventPrefix = "evt_test_"

/** True for a delivery of a test event. */
export const isTestEvent = ({ eventId }: { readonly eventId: string }): boolean => eventId.startsWith(testEventPrefix)
