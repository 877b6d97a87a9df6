/** Consumers on the Admin API: the declaration (interface document 4.4 and 8.3; completions 4, "Consumers"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as ConsumerSessions from "../../../auth/sessions/ConsumerSessions.ts"
import { SessionType } from "../../../auth/tokens/Tokens.ts"
import { Consumer, consumersAtOnceMax, ConsumerType, Settings } from "../../../domain/consumer/Consumer.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { deciders } from "../../../domain/mechanism/Mechanism.ts"
import { Risk } from "../../../domain/risk/Risk.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { exportedJournalsMax, exportedMax } from "../../../store/privacy/ConsumerExports.ts"
import { Timestamp } from "../../../domain/values/Time.ts"
import * as ConsumerPlaces from "../../../store/mechanism/ConsumerPlaces.ts"
import * as ConsumerList from "../../../store/consumer/ConsumerList.ts"
import { EmailText } from "../../../domain/values/Email.ts"
import { Country, PhoneText } from "../../fields/AddressFields.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { EndedSessions, sessionFields } from "../../fields/SessionFields.ts"
import { listAnnotations, listQuery, pageOf } from "../records/Lists.ts"
import { createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"
import { ConsumerExport } from "./ConsumerExport.ts"

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

/** One place of a consumer. Further fields depend on the status. */
export const ConsumerPlace = Schema.StructWithRest(
  Schema.Struct({
    distributionId: Id,
    type: Schema.Literals(Object.keys(deciders) as Array<Kind>),
    experienceId: Id,
    sequenceId: Id,
    name: Schema.String.annotate({ description: "The mechanism's." }),
    archived: Schema.Boolean.annotate({ description: "Whether the mechanism is archived." }),
    status: Schema.String,
    enteredAt: Timestamp,
    updatedAt: Timestamp,
    risk: Risk
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
).annotate({ identifier: "ConsumerPlace" })

const params = { id: Id }

const taken =
  "An email, phone number or external id of another consumer is refused (409 `EMAIL_TAKEN`, `PHONE_TAKEN`, `EXTERNAL_ID_TAKEN`)."

const { create, list, get, change, restore } = operationsOn({
  name: "Consumer",
  aNoun: "a consumer",
  path: "consumers",
  record: Consumer
})

export class ConsumersApi extends HttpApiGroup.make("consumers")
  .add(
    create({
      payload: ConsumerSettings,
      error: Conflict,
      description: `An authenticated one, who can sign in with its email or phone number. ${taken}`
    }),
    list({
      shape: ConsumerList.shape,
      search: "email, phone and full name; or a whole id or external id",
      only: { type: Schema.optionalKey(ConsumerType) },
      description:
        "All that are not archived, guests too, or with `archived=true` those that are. Those without a value of the sort field come first. `totalOrderValue` sorts by what was ordered in the organization's currency; what was ordered in others is in `totalOrderValues`."
    }),
    HttpApiEndpoint.post("upsertConsumers", "/consumers/batch", {
      payload: ConsumerBatch,
      success: Schema.Struct({ data: Schema.Array(Consumer) }).annotate({ identifier: "Consumers" })
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create and change many consumers",
        description:
          "All or none, answered in the order of the rows. A row changes the consumer that has its external id, else its email, else its phone number, by the fields it has; if there is none it creates one. Rows that mean the same consumer, or one whose fields point at different consumers, are a 400 that names them."
      })
    ),
    get(),
    change({
      payload: ConsumerSettings,
      error: [NotFound, Conflict],
      description: `Send the fields to change: one that is absent keeps its value, null takes it away. ${taken}`
    }),
    HttpApiEndpoint.delete("archiveConsumer", "/consumers/:id", {
      params,
      query: {
        erase: Schema.optionalKey(
          Schema.Boolean.annotate({ description: "`true` also erases the consumer, which cannot be undone." })
        )
      },
      success: Consumer,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive or erase a consumer",
        description:
          "Answers the archived record. Its tokens work no more, anywhere. It loses its places: where it waits it has `LEFT`, its grants, its wins and its bids are `DENIED` with `ADMIN_ACTION`, a booking is `CANCELLED`; in an auction the next best bid leads in place of its own. A request that fails with a 503 may be sent again, and goes on. Its email, phone number and external id are free for another. " +
          "With `erase=true`, also for one that is archived, what says who it is goes for good: addresses, names, external id, attributes, metadata, identities, sessions, audiences, security events, and the metadata of its orders. Orders keep what was sold, their numbers and sums. Histories keep its id, which names nobody then."
      })
    ),
    HttpApiEndpoint.get("exportConsumer", "/consumers/:id/export", {
      params,
      success: ConsumerExport,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Export what is stored about a consumer",
        description: `For a person who asks for it; archived consumers too. Each list has the newest ${exportedMax.toLocaleString("en")} entries, and events come from the ${exportedJournalsMax} mechanisms that the consumer entered last. \`isComplete\` is false if there is more.`
      })
    ),
    HttpApiEndpoint.get("listConsumerSessions", "/consumers/:id/sessions", {
      params,
      query: { ...listQuery(ConsumerSessions.shape), type: Schema.optionalKey(SessionType) },
      success: pageOf(Session).annotate({ identifier: "SessionPage" }),
      error: NotFound
    }).annotateMerge(
      listAnnotations({
        summary: "List a consumer's sessions",
        description: "Those that have not ended, a guest's too."
      })
    ),
    HttpApiEndpoint.get("listConsumerPlaces", "/consumers/:id/places", {
      params,
      query: {
        ...listQuery(ConsumerPlaces.shape),
        type: Schema.optionalKey(
          Schema.Literals(Object.keys(deciders) as Array<Kind>).annotate({
            description: "Only places in mechanisms of this kind."
          })
        ),
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only places in this experience." })),
        active: Schema.optionalKey(Schema.Boolean)
      },
      success: pageOf(ConsumerPlace).annotate({ identifier: "ConsumerPlacePage" }),
      error: NotFound
    }).annotateMerge(
      listAnnotations({
        summary: "List a consumer's places",
        description:
          "In mechanisms of every kind, archived ones too, as last recorded. Each item has the common fields and those of " +
          "its status. Each of the organization's mechanisms is looked up, or with `active=true` each that is not over."
      })
    ),
    HttpApiEndpoint.delete("endConsumerSessions", "/consumers/:id/sessions", {
      params,
      success: EndedSessions,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "End all of a consumer's sessions",
        description:
          "At once and everywhere, their refresh tokens included. The consumer may sign in again, and its places stay. A guest cannot come back to its places."
      })
    ),
    HttpApiEndpoint.delete("endConsumerSession", "/consumers/:id/sessions/:sessionId", {
      params: { ...params, sessionId: Id },
      success: Session,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "End a session of a consumer",
        description: "At once and everywhere, its refresh token included. Answers the session."
      })
    )
  )
  .add(
    restore({
      error: [NotFound, Conflict],
      description: `It can sign in again; its sessions from before have ended, but for those of a guest, which has no other way in. What another consumer has by now is refused (409 \`EMAIL_TAKEN\`, \`PHONE_TAKEN\`, \`EXTERNAL_ID_TAKEN\`).`
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Consumers",
      description:
        "Everyone the organization knows, guests included: who they are, how loyal, and what they have ordered."
    })
  ) {}
