/** Experiences on the Consumer API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Theme } from "../../domain/experience/Experience.ts"
import { PublicExperiencePage, Slug } from "../../domain/experience/ExperiencePage.ts"
import { ExperienceProduct } from "../../domain/experience/ExperienceProduct.ts"
import { Id } from "../../domain/values/Ids.ts"
import { AccessCode, ProductSelectionMode } from "../../domain/experience/Sequence.ts"
import { JsonObject } from "../../domain/values/Text.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { ConsumerAction, PublicRead } from "../Credentials.ts"
import { Forbidden, NotFound } from "../Errors.ts"
import { PublicMechanisms } from "./KindsApi.ts"

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
      "With `SYSTEM_ASSIGNED`: the product that is assigned to this consumer, always the same. Null in the public " +
      "view, and if no product is assigned."
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
    description: "If the experience has no opening: the earliest of its mechanisms'."
  }),
  closeAt: Schema.NullOr(SentTimestamp).annotate({
    description: "If the experience has no closing: the latest of its mechanisms'."
  }),
  hasProtectedSequences: Schema.Boolean.annotate({
    description:
      "True if the experience or any sequence has an access code, or a sequence is for an audience. Sequences that are " +
      "not shown count too."
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
        AccessCode.annotate({
          description:
            "Opens the experience and the sequences that have this code, permanently. Blanks count for nothing."
        })
      )
    )
  }),
  Schema.Null
] as const

const group = HttpApiGroup.make("experiences").annotateMerge(
  OpenApi.annotations({
    title: "Experiences",
    description: "A release as its consumers see it: its contents, and entering and leaving it."
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
          "The public view: only sequences that are for all consumers. An experience with an access code shows none."
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
          "The page of kind `experience-page` with this slug, or without a slug the one that was published last. Only a " +
          "published page that is not archived is found; every other is a 404. Changes of a published page are visible at " +
          "once."
      })
    ),
  HttpApiEndpoint.get("next", "/experiences/:experienceId/next", {
    params,
    success: Schema.Struct({
      experience: Schema.NullOr(Schema.Struct({ id: Id, name: Schema.String, openAt: SentTimestamp }))
    }).annotate({ identifier: "NextExperience" }),
    error: NotFound
  })
    .middleware(PublicRead)
    .annotateMerge(
      OpenApi.annotations({
        summary: "Get the organization's next experience",
        description:
          "The experience that opens next, apart from this one, for visitors that got nothing here. Only experiences with a " +
          "published page and a sequence for all consumers count; null if there is none."
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
          "Returns the experience as this consumer may see it. It includes the sequences for the consumer's audiences and " +
          "those whose access code it has sent. A sequence of `SYSTEM_ASSIGNED` products names this consumer's product in " +
          "`assignedProductId`; the consumer's grants there name it as `productId`. `enteredAt` is the first entry.\n\nAn " +
          "access code that opens nothing is a 403. After 10 such codes from one consumer, or 50 from one client address, " +
          "within 10 minutes it is a 429. An experience whose access code the consumer has not sent is a 403 too; the " +
          "consumer has then not entered."
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
          "`left` is false if the consumer had not entered. The consumer keeps its places in mechanisms, and an access " +
          "code it has sent stays in effect."
      })
    )
) {}
