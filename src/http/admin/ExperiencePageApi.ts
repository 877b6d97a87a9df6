/**
 * Experience pages on the Admin API: the contract (interface document 2.1 to 2.4 and 4.1; completions 4).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { nodeLevelsMax, nodesMax } from "../../domain/creative/EmailNode.ts"
import { ExperiencePage, PageStatus, Settings } from "../../domain/ExperiencePage.ts"
import { Id } from "../../domain/Ids.ts"
import * as ExperiencePages from "../../store/ExperiencePages.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "./Lists.ts"
import { changeFields, createFields } from "./Payloads.ts"

const required = ["slug", "title", "creativeDocument"] as const

/** The body of `POST /experience-pages`. */
export const CreateExperiencePage = Schema.Struct({
  experienceId: Id,
  ...createFields(Settings.fields, required),
  status: Schema.optionalKey(
    Schema.NullOr(PageStatus).annotate({ description: "Default `DRAFT`. `PUBLISHED` publishes it at once." })
  )
}).annotate({ identifier: "CreateExperiencePage" })

/** The body of `PUT /experience-pages/{id}`. */
export const ChangeExperiencePage = Schema.Struct(changeFields(Settings.fields, required)).annotate({
  identifier: "ChangeExperiencePage"
})

const params = { id: Id }

export class ExperiencePageApi extends HttpApiGroup.make("experiencePages")
  .add(
    HttpApiEndpoint.post("createExperiencePage", "/experience-pages", {
      payload: CreateExperiencePage,
      success: ExperiencePage.pipe(HttpApiSchema.status(201)),
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create an experience page",
        description:
          "The slug is the page's own among the pages of its experience (409 `SLUG_TAKEN`); an archived page gives its slug back. " +
          "The creative document is checked whole, at any depth, and each mistake in it has an issue with its path. Fields that " +
          "the vocabulary does not know are ignored; the body of `rich-content-v0` is kept as it is. " +
          `An email has at most ${nodesMax} nodes, at most ${nodeLevelsMax} levels deep.`
      })
    ),
    HttpApiEndpoint.get("listExperiencePages", "/experience-pages", {
      query: {
        ...listQuery(ExperiencePages.shape),
        ...searchQuery("the title and the slug"),
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })),
        status: Schema.optionalKey(PageStatus.annotate({ description: "Only those in this status." }))
      },
      success: pageOf(ExperiencePage).annotate({ identifier: "ExperiencePageList" })
    }).annotateMerge(
      listAnnotations({
        summary: "List experience pages",
        description:
          "All that are not archived, with their creative documents. Where these are large, a page of the list ends after " +
          `${ExperiencePages.documentBytesMax / 2 ** 20} MiB of them and has fewer items than were asked for; its cursors go on from there.`
      })
    ),
    HttpApiEndpoint.get("getExperiencePage", "/experience-pages/:id", {
      params,
      success: ExperiencePage,
      error: NotFound
    }).annotateMerge(OpenApi.annotations({ summary: "Get an experience page" })),
    HttpApiEndpoint.put("changeExperiencePage", "/experience-pages/:id", {
      params,
      payload: ChangeExperiencePage,
      success: ExperiencePage,
      error: [NotFound, Conflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change an experience page",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes an optional one away. The creative document is " +
          "replaced as a whole. A page stays with its experience, and its status is changed by publishing alone. Nothing is frozen " +
          "by publishing: a change of a published page is in the page at once, it stays `PUBLISHED`, and `publishedAt` and " +
          "`lastPublishedAt` stay as they are, so that an `updatedAt` after `lastPublishedAt` says that it has changed since."
      })
    ),
    HttpApiEndpoint.delete("archiveExperiencePage", "/experience-pages/:id", {
      params,
      success: ExperiencePage,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive an experience page",
        description: "Answers the archived record. It is not found any more afterwards."
      })
    ),
    HttpApiEndpoint.post("publishExperiencePage", "/experience-pages/:id/publish", {
      params,
      success: ExperiencePage,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Publish an experience page",
        description:
          "The status is `PUBLISHED` from then on. `publishedAt` is the first publication, `lastPublishedAt` this one: a page can " +
          "be published as often as one likes."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Experience pages",
      description: "Creative documents of experiences: emails, messages and pages."
    })
  ) {}
