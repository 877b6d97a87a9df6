/** Audiences on the Admin API: the declaration (completions 4, "Audiences"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Audience, AudienceType, membersAtOnceMax, Settings } from "../../../domain/consumer/Audience.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { Timestamp } from "../../../domain/values/Time.ts"
import * as AudienceMembers from "../../../store/consumer/AudienceMembers.ts"
import * as Audiences from "../../../store/consumer/Audiences.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

const type = Schema.optionalKey(
  Schema.NullOr(AudienceType).annotate({
    description: "Default `DYNAMIC` with rules, else `STATIC`. It stays as it is."
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

const { create, list, get, change, archive, restore } = operationsOn({
  name: "Audience",
  aNoun: "an audience",
  path: "audiences",
  record: Audience
})

export class AudienceApi extends HttpApiGroup.make("audiences")
  .add(
    create({
      payload: CreateAudience,
      description:
        "A `STATIC` one is of consumers that are named one by one, and has no members yet. The members of a `DYNAMIC` one are the consumers who fit its rules at the moment: all or any of them. Text of email, phone and full name is compared upper and lower case alike, everything else exactly; what is not known is equal to nothing and has no order."
    }),
    list({
      shape: Audiences.shape,
      search: "the name",
      description:
        "All that are not archived, or with `archived=true` those that are. Sorted by `lastRefreshedAt`, those whose members never changed come first. `memberCount` of a `DYNAMIC` one is as it was last counted."
    }),
    get("The members of a `DYNAMIC` one are counted, once a minute at most: `lastRefreshedAt` says when."),
    change({
      payload: ChangeAudience,
      error: [NotFound, Conflict],
      description:
        "Send the fields to change: one that is absent keeps its value. New rules hold at once. A `STATIC` audience takes no rules, and a `DYNAMIC` one keeps some (409 `AUDIENCE_TYPE_FIXED`)."
    }),
    archive({
      error: [NotFound, Conflict],
      description:
        "Answers the archived record. As long as a sequence is for it, it is refused (409 `AUDIENCE_IN_USE`), so that no sequence opens or shuts unnoticed."
    }),
    restore({ description: "It has the members it had." }),
    HttpApiEndpoint.get("listAudienceMembers", "/audiences/:id/members", {
      params,
      query: { ...listQuery(AudienceMembers.shape), ...searchQuery("email, phone and full name") },
      success: pageOf(AudienceMember).annotate({ identifier: "AudienceMemberPage" }),
      error: NotFound
    }).annotateMerge(
      listAnnotations({
        summary: "List an audience's members",
        description:
          "In the order they were added; of a `DYNAMIC` audience, those who fit its rules now, in the order they were created, which is the only order there."
      })
    ),
    HttpApiEndpoint.post("addAudienceMembers", "/audiences/:id/members", {
      params,
      payload: ConsumerIds,
      success: Audience.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Add members to an audience",
        description:
          "All or none: a consumer that is not there is a 400 that names it. Who is a member already stays one. Answers the audience. A `DYNAMIC` one takes none (409 `AUDIENCE_DYNAMIC`)."
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
          "All or none, as for adding. They cannot enter the audience's sequences any more; places they have already stay theirs. Answers the audience."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Audiences",
      description: "Consumers named one by one, or by rules that they fit. A sequence may be reserved for them."
    })
  ) {}
