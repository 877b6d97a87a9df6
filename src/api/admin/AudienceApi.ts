/** Audiences on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  Audience,
  AudienceType,
  membersAtOnceMax,
  Settings,
  audienceMemberSorts,
  audienceSorts
} from "../../domain/consumer/Audience.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { searchQuery } from "./Lists.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { listBelow, operationsOn } from "./RecordApi.ts"

const type = Schema.optionalKey(
  Schema.NullOr(AudienceType).annotate({
    description: "Default `DYNAMIC` with rules, else `STATIC`. It cannot be changed."
  })
)

/** The body of `POST /audiences`. */
export const CreateAudience = Schema.Struct({ ...createFields(Settings.fields, ["name"]), type }).annotate({
  identifier: "CreateAudience"
})

/** The body of `PUT /audiences/{id}`. */
export const ChangeAudience = Schema.Struct({ ...changeFields(Settings.fields, ["name"]), type }).annotate({
  identifier: "ChangeAudience"
})

/** The body that adds and removes members. */
export const ConsumerIds = Schema.Struct({
  consumerIds: Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(membersAtOnceMax))
}).annotate({ identifier: "ConsumerIds" })

/** A consumer that belongs to an audience. */
export const AudienceMember = Schema.Struct({
  consumerId: Id,
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  fullName: Schema.NullOr(Schema.String),
  /** Null if no admin added the consumer, because it fits the rules. */
  addedAt: Schema.NullOr(Timestamp)
}).annotate({ identifier: "AudienceMember" })

const params = { id: Id }

const audience = operationsOn(Audience, { name: "Audience", aNoun: "an audience", path: "audiences" })

export class AudienceApi extends HttpApiGroup.make("audiences")
  .add(
    audience.create({
      payload: CreateAudience,
      description:
        "The members of a `STATIC` audience are named one by one; it begins without any. The members of a `DYNAMIC` " +
        "audience are the consumers who fit all, or any, of its rules now. Email, phone and full name are compared " +
        "without regard to case; every other field is compared exactly. An unknown value equals no value and has no " +
        "order."
    }),
    audience.list({
      sorts: audienceSorts,
      search: "the name",
      description:
        "Lists audiences that are not archived, or with `archived=true` only archived ones. In the order of " +
        "`lastRefreshedAt`, audiences whose members never changed come first. `memberCount` of a `DYNAMIC` audience is " +
        "its last count."
    }),
    audience.get(
      "Counts the members of a `DYNAMIC` audience, at most once a minute. `lastRefreshedAt` is the time of the count."
    ),
    audience.change({
      payload: ChangeAudience,
      error: [NotFound, Conflict],
      description:
        "Send only the fields to change. An absent field keeps its value. New rules apply at once. A `STATIC` audience " +
        "takes no rules, and a `DYNAMIC` one must keep some (409 `AUDIENCE_TYPE_FIXED`)."
    }),
    audience.archive({
      error: [NotFound, Conflict],
      description:
        "Returns the archived record. It is refused while a sequence is reserved for the audience (409 " +
        "`AUDIENCE_IN_USE`), because the sequence would open or shut unnoticed."
    }),
    audience.restore({ description: "Its members are those it had before." }),
    listBelow("listAudienceMembers", "/audiences/:id/members", {
      sorts: audienceMemberSorts,
      only: { ...searchQuery("email, phone and full name") },
      item: AudienceMember,
      page: "AudienceMemberPage",
      summary: "List an audience's members",
      description:
        "A `STATIC` audience lists its members in the order they were added. A `DYNAMIC` one lists the consumers who fit " +
        "its rules now, in the order they were created."
    }),
    HttpApiEndpoint.post("addAudienceMembers", "/audiences/:id/members", {
      params,
      payload: ConsumerIds,
      success: Audience.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Add members to an audience",
        description:
          "Adds all or none: an unknown consumer is a 400 that names it. A consumer that is already a member stays one. " +
          "Returns the audience. A `DYNAMIC` audience takes no members (409 `AUDIENCE_DYNAMIC`)."
      })
    ),
    HttpApiEndpoint.delete("removeAudienceMembers", "/audiences/:id/members", {
      params,
      payload: ConsumerIds,
      success: Audience,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Remove members from an audience",
        description:
          "Removes all or none: an unknown consumer is a 400 that names it. They can no longer enter the audience's " +
          "sequences, but keep the places they have. Returns the audience."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Audiences",
      description: "Consumers named one by one, or selected by rules. A sequence may be reserved for an audience."
    })
  ) {}
