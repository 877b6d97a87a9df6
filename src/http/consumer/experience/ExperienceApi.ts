/**
 * Experiences on the Consumer API: the declaration (interface document 2.6, 2.8 and 4.2; completions 3, "Experience and
 * sequences").
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Theme } from "../../../domain/experience/Experience.ts"
import { PublicExperiencePage, Slug } from "../../../domain/experience/ExperiencePage.ts"
import { ExperienceProduct } from "../../../domain/experience/ExperienceProduct.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { AccessCode, ProductSelectionMode } from "../../../domain/experience/Sequence.ts"
import { JsonObject } from "../../../domain/values/Text.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import { ConsumerAction, PublicRead } from "../../credentials/Credentials.ts"
import { Forbidden, NotFound } from "../../errors/Errors.ts"
import { PublicMechanisms } from "./SequenceView.ts"

/** A sequence with its mechanisms, as the consumers it is for may see it. */
export const PublicSequence = Schema.Struct({
  id: Id,
  experienceId: Id,
  audienceId: Schema.NullOr(Id),
  name: Schema.String,
  priority: Schema.Int,
  productSelectionMode: Schema.NullOr(ProductSelectionMode),
  assignedProductId: Schema.NullOr(Id).annotate({
    description:
      "With `SYSTEM_ASSIGNED`: the product that was picked for this consumer, which stays the same. Null for nobody in particular, and where nothing is picked."
  }),
  ...PublicMechanisms
}).annotate({ identifier: "Sequence" })

/** An experience with the sequences that are for the consumer, higher priority first. */
export const PublicExperience = Schema.Struct({
  id: Id,
  name: Schema.String,
  currencyCode: Schema.String,
  timeZone: Schema.String,
  openAt: Schema.NullOr(SentTimestamp).annotate({
    description: "Where the experience has none of its own: the earliest of its mechanisms that have one."
  }),
  closeAt: Schema.NullOr(SentTimestamp).annotate({
    description: "Where the experience has none of its own: the latest of its mechanisms that have one."
  }),
  hasProtectedSequences: Schema.Boolean.annotate({
    description:
      "The experience has an access code, or some sequence has one or is for an audience, whether or not it is shown."
  }),
  i18n: Schema.NullOr(JsonObject),
  products: Schema.Array(ExperienceProduct),
  sequences: Schema.Array(PublicSequence),
  theme: Schema.NullOr(Theme)
}).annotate({ identifier: "Experience" })

const params = { experienceId: Id }

/** The body may be absent. */
const shown = [
  Schema.Struct({
    accessCode: Schema.optionalKey(
      Schema.NullOr(
        AccessCode.annotate({ description: "Opens the experience, and the sequences, that have it, for good." })
      )
    )
  }),
  Schema.Null
] as const

const group = HttpApiGroup.make("experiences").annotateMerge(
  OpenApi.annotations({
    title: "Experiences",
    description: "A release as its consumers see it: what it is made of, entering and leaving it."
  })
)

export class ExperiencesGroup extends group.add(
  HttpApiEndpoint.get("get", "/experiences/:experienceId", {
    params,
    success: PublicExperience,
    error: NotFound
  })
    .middleware(PublicRead)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Get an experience",
        description:
          "As anyone may see it: only the sequences that are for everybody, and so none of an experience that has an access code."
      })
    ),
  HttpApiEndpoint.get("page", "/experiences/:experienceId/page", {
    params,
    query: { slug: Schema.optionalKey(Slug.annotate({ description: "The page with this slug." })) },
    success: PublicExperiencePage,
    error: NotFound
  })
    .middleware(PublicRead)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Get the page of an experience",
        description:
          "The page of kind `experience-page` that has this slug, or else the one that was published last. Only a published page that is not archived is found; everything else is a 404. A published page is shown as it is now: a change of it is seen at once."
      })
    ),
  HttpApiEndpoint.post("enter", "/experiences/:experienceId/enter", {
    params,
    payload: shown,
    success: Schema.Struct({
      enteredAt: SentTimestamp,
      experience: PublicExperience,
      experienceId: Id
    }).annotate({ identifier: "ExperienceEntry" }),
    error: [NotFound, Forbidden]
  })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Enter an experience",
        description:
          "Answers the experience as this consumer may see it, with the sequences for its audiences and those whose access code it has shown. A sequence of `SYSTEM_ASSIGNED` products says in `assignedProductId` which one is this consumer's; the consumer's grants there name it as `productId`. `enteredAt` is the first time. An access code that opens nothing is a 403; after 10 of them from one consumer, or 50 from one client address, in 10 minutes a 429. A 403 is also an experience with an access code that the consumer has not shown; then it has not entered."
      })
    ),
  HttpApiEndpoint.delete("leave", "/experiences/:experienceId/leave", {
    params,
    success: Schema.Struct({ left: Schema.Boolean }).annotate({ identifier: "ExperienceLeft" }),
    error: NotFound
  })
    .middleware(ConsumerAction)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Leave an experience",
        description:
          "`left` is false if the consumer had not entered. Its places in mechanisms stay, and so does what an access code has opened."
      })
    )
) {}
