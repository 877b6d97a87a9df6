/**
 * The state and the history of mechanisms for admins. "Distribution" is the Admin API's word for a
 * mechanism of any kind.
 */
import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { mechanismSorts, historySorts, declarations, type Kind, kinds } from "../../domain/mechanism/Mechanism.ts"
import { PlaceStatus, statusesByKind, placeSorts } from "../../domain/mechanism/PlaceFields.ts"
import { text } from "../../domain/values/Text.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { plainCode } from "../../domain/values/TypedCode.ts"
import { NotFound } from "../Errors.ts"
import { StreamKey } from "../Credentials.ts"
import { listAnnotations, listQuery, pageOf, searchQuery, archivedQuery } from "./Lists.ts"
import { DistributionConsumer } from "./PlaceSchemas.ts"
import { Contact, contactsEndpoint } from "./ContactsApi.ts"
import { consumersCsvEndpoint } from "./ConsumersCsvApi.ts"
import { factsEndpoint } from "./FactsApi.ts"
import { statusFields } from "./MechanismApi.ts"
import { denyEndpoint, RiskScore } from "./SteeringApi.ts"
import { listBelow } from "./RecordApi.ts"
import { kindSchemas } from "./KindsApi.ts"
import { replayEndpoint } from "./ReplayApi.ts"
import { waitsEndpoint } from "./WaitsApi.ts"
import { LifeChange, watchOf } from "./WatchApi.ts"
import { extensionSecondsMax } from "../../domain/mechanism/extension/Extension.ts"

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

const bodies = [
  Schema.Struct({
    seconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: extensionSecondsMax })).annotate({
      description: "Seconds by which the times move."
    }),
    until: unnamed
  }),
  Schema.Struct({
    until: Timestamp.annotate({
      description: "The earliest time that is allowed afterwards. At most a year from now."
    }),
    seconds: unnamed
  })
] as const

export interface ExtensionBody {
  readonly seconds?: number | null
  readonly until?: number | null
}

const Extension = Schema.Struct({
  grants: Schema.Int.annotate({ description: "Number of grants that this request moved." })
}).annotate({ identifier: "Extension" })

export const extendEndpoint = HttpApiEndpoint.post("extendDistribution", "/distributions/:id/extend", {
  params: { id: Id },
  payload: Schema.Union(bodies),
  success: Extension,
  error: NotFound
}).annotateMerge(
  OpenApi.annotations({
    summary: "Extend a mechanism",
    description:
      "For use after an outage. Moves the expiry of all grants that consumers hold, and the closing if it has not " +
      "passed. They move by `seconds`, or to `until` where they are earlier. The drawing of a draw moves with its " +
      "closing; an auction's settlement is never before its closing. No time becomes earlier, and expired grants stay " +
      "expired. A request with `until` can be repeated safely; a repeated request with `seconds` moves everything " +
      "again. Grants that a shop has stored keep their former expiry: consumers get new ones with their next request."
  })
)

const count = Schema.Int

/** The code of a booking as staff type it. */
const ConfirmationCode = text({ minLength: 1, maxLength: 100 }).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (code) => plainCode(code).toUpperCase(), encode: (code) => code })
  )
)

/** The counters of a mechanism's actor. */
export const Live = Schema.Struct({
  counts: Schema.Record(Schema.String, count).annotate({
    description: `Places by status, for every status of the kind. ${statusesByKind}`
  }),
  entriesPerMinute: count.annotate({ description: "Over the last 60 seconds." }),
  grantsPerMinute: count.annotate({ description: "Over the last 60 seconds." }),
  lastSequence: count.annotate({ description: "Of the last recorded event." }),
  node: Schema.NullOr(Schema.String).annotate({ description: "The process it runs in; null while it is parked." }),
  restarts: count.annotate({ description: "How often it was rebuilt after a failure." }),
  parked: Schema.Boolean.annotate({ description: "True if it failed too often and is stopped." })
}).annotate({ identifier: "Live" })

const Lifecycle = Schema.Literals(["scheduled", "open", "settling", "closed"])

const live = Schema.NullOr(Live).annotate({
  description: "Null only in lists, for a mechanism that does not run in this process."
})

/** The units that a mechanism has from its stock. */
export const Allocation = Schema.Struct({
  units: count.annotate({ description: "Units that it has, held ones too." }),
  held: count.annotate({ description: "Units that live grants hold." }),
  free: count.annotate({ description: "Units that grants may still take." }),
  sold: count.annotate({ description: "Units that were sold here." })
}).annotate({ identifier: "Allocation" })

const allocation = Schema.NullOr(Allocation).annotate({
  description: "Null without a `stockId`, and in lists for a mechanism that does not run in this process."
})

/** True for a kind that can sell from a stock. */
export const allocates = (kind: Kind): boolean => Object.hasOwn(kindSchemas[kind].settings, "stockId")

/** The allocation of the kinds that can sell from a stock. */
type AllocationOf<F> = "stockId" extends keyof F ? { readonly allocation: typeof allocation } : {}

/** A mechanism of one kind with its live state. */
type DistributionOf<K extends Kind> =
  (typeof kindSchemas)[K]["Record"] extends Schema.Struct<infer F>
    ? Schema.Struct<
        F &
          AllocationOf<F> & {
            readonly type: Schema.Literal<K>
            readonly lifecycle: typeof Lifecycle
            readonly live: typeof live
          }
      >
    : never

const distributionOf = (kind: Kind) =>
  Schema.Struct({
    ...kindSchemas[kind].Record.fields,
    type: Schema.Literal(kind),
    lifecycle: Lifecycle,
    live,
    ...(allocates(kind) && { allocation })
  }).annotate({
    identifier: `${declarations[kind].name}Distribution`
  })

/** A mechanism with its live state. */
export const Distribution = Schema.Union(
  kinds.map(distributionOf) as ReadonlyArray<unknown> as ReadonlyArray<{ [K in Kind]: DistributionOf<K> }[Kind]>
).annotate({
  identifier: "Distribution"
})

/** A change in a mechanism's lifecycle, and the state after it. */
export const LifecycleEvent = Schema.Struct({
  change: LifeChange,
  lifecycle: Lifecycle,
  ...statusFields,
  updatedAt: Timestamp,
  updatedBy: Schema.String
}).annotate({ identifier: "LifecycleEvent" })

/** One recorded event. */
export const HistoryEntry = Schema.Struct({
  sequence: Schema.Int,
  type: Schema.String,
  at: Timestamp,
  consumerId: Schema.NullOr(Id),
  data: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "HistoryEntry" })

export class DistributionApi extends HttpApiGroup.make("distributions")
  .add(
    HttpApiEndpoint.get("listDistributions", "/distributions", {
      query: {
        ...listQuery(mechanismSorts),
        ...searchQuery("the name"),
        ...archivedQuery,
        type: Schema.optionalKey(
          Schema.Literals(kinds).annotate({
            description: "Only those of this kind."
          })
        ),
        lifecycle: Schema.optionalKey(Lifecycle.annotate({ description: "Only those in this state." })),
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." }))
      },
      success: pageOf(Distribution).annotate({ identifier: "DistributionPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List the mechanisms of all kinds",
        description:
          "Lists mechanisms that are not archived, or with `archived=true` only archived ones, with their state. " +
          "Mechanisms that run in this process also have their counters. In the order of `openAt`, those without one come " +
          "first."
      })
    ),
    HttpApiEndpoint.get("getDistribution", "/distributions/:id", {
      params: { id: Id },
      success: Distribution,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Watch a mechanism",
        description:
          "The mechanism's record, its state, and live counters from its actor's memory. The request counts nothing."
      })
    ),
    factsEndpoint,
    HttpApiEndpoint.get("watchDistribution", "/distributions/:id/events", {
      params: { id: Id },
      headers: { "last-event-id": Schema.optionalKey(Schema.String) },
      success: watchOf({ distribution: Distribution, live: Live, lifecycle: LifecycleEvent }),
      error: NotFound
    })
      .middleware(StreamKey)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Follow a mechanism",
          description: "Streams changes of the result of `GET /distributions/{id}`."
        })
      ),
    listBelow("listDistributionConsumers", "/distributions/:id/consumers", {
      sorts: placeSorts,
      only: {
        ...searchQuery("email and phone, or at the beginning of the consumer's id"),
        status: Schema.optionalKey(PlaceStatus.annotate({ description: "Only places in this status." })),
        slotId: Schema.optionalKey(
          Id.annotate({ description: "For appointments only: bookings of this slot, in any status." })
        ),
        confirmationCode: Schema.optionalKey(
          ConfirmationCode.pipe(
            Schema.annotateEncoded({ description: "For appointments only: the booking with this code, in any case." })
          )
        ),
        minRiskScore: Schema.optionalKey(RiskScore),
        contact: Schema.optionalKey(Contact)
      },
      item: DistributionConsumer,
      page: "DistributionConsumerPage",
      summary: "List a mechanism's consumers",
      description: "Lists consumers as last recorded. Each item has the common fields and those of its status."
    }),
    consumersCsvEndpoint,
    waitsEndpoint,
    replayEndpoint,
    contactsEndpoint,
    denyEndpoint,
    extendEndpoint,
    listBelow("listDistributionHistory", "/distributions/:id/history", {
      sorts: historySorts,
      only: {
        type: Schema.optionalKey(
          text({ minLength: 1, maxLength: 100 }).annotate({ description: "Only events of this type." })
        )
      },
      item: HistoryEntry,
      page: "HistoryPage",
      summary: "List a mechanism's recorded events",
      description:
        "Lists events in their order. `data` holds the event's own fields as they were stored, without those that are " +
        "still secret."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Distributions",
      description: "Mechanisms of every kind: their live state, their consumers and their recorded events."
    })
  ) {}
