/** Experience pages on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { messageDocumentBytesMax } from "../../domain/experience/creative/Document.ts"
import { nodeLevelsMax, nodesMax } from "../../domain/experience/creative/EmailNode.ts"
import { placeholders } from "../../domain/experience/creative/rendering/Placeholders.ts"
import {
  ExperiencePage,
  PageStatus,
  Settings,
  experiencePageSorts,
  listedDocumentBytesMax
} from "../../domain/experience/ExperiencePage.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

/** The placeholders and their meanings. */
const placeholderList = Object.entries(placeholders)
  .map(([name, meaning]) => `\`${name}\` (${meaning})`)
  .join(", ")

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

const messagesDescription =
  "Messages about grants (`grantMessages` of the organization) use the experience's pages of kind " +
  "`transactional-email` and `transactional-sms`. Of each kind they use the page that was published last, in its " +
  `present state. A page of more than ${messageDocumentBytesMax / 1_024} KiB is not used. Its subject, texts and ` +
  `addresses may contain placeholders such as \`{{consumerName}}\`: ${placeholderList}. An unknown placeholder, or ` +
  "one without a value, becomes empty. The input of `dynamic-text` is a type of mechanism.\n\nAn email is sent as " +
  "HTML and as plain text. Placeholders are escaped, and encoded within an address. A link must be absolute " +
  "(`https`, `http`, `mailto`, `tel`), and so must an image (`https`, `http`); other links and images are shown as " +
  "text. Of the theme, an email uses the colours `background`, `surface`, `text`, `muted`, `primary` and both " +
  "fonts."

const params = { id: Id }

const page = operationsOn(ExperiencePage, {
  name: "ExperiencePage",
  aNoun: "an experience page",
  path: "experience-pages"
})

export class ExperiencePageApi extends HttpApiGroup.make("experiencePages")
  .add(
    page.create({
      payload: CreateExperiencePage,
      error: [NotFound, Conflict],
      description:
        "The slug is unique among the pages of the experience (409 `SLUG_TAKEN`). An archived page releases its slug. " +
        "The creative document is checked at every depth, and each error has an issue with its path. Unknown fields are " +
        `ignored; the body of \`rich-content-v0\` is kept unchanged. An email has at most ${nodesMax} nodes, at most ` +
        `${nodeLevelsMax} levels deep.\n\n${messagesDescription}`
    }),
    page.list({
      sorts: experiencePageSorts,
      search: "the title and the slug",
      only: {
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })),
        status: Schema.optionalKey(PageStatus.annotate({ description: "Only those in this status." }))
      },
      page: "ExperiencePageList",
      description:
        "Lists pages with their creative documents: those that are not archived, or with `archived=true` only archived " +
        `ones. If the documents are large, a page of the list ends after ${listedDocumentBytesMax / 2 ** 20} ` +
        "MiB of them and has fewer items than requested. Its cursors continue from there."
    }),
    page.get(),
    page.change({
      payload: ChangeExperiencePage,
      error: [NotFound, Conflict],
      description:
        "Send only the fields to change. An absent field keeps its value; null removes an optional one. The creative " +
        "document is replaced as a whole. A page stays with its experience. Only publishing and unpublishing change its " +
        "status.\n\nConsumers see a change of a published page at once. The page stays `PUBLISHED`, and `publishedAt` and " +
        "`lastPublishedAt` keep their values. An `updatedAt` after `lastPublishedAt` therefore shows a change since the " +
        "publication. To prepare a change unseen, create another page and publish it when it is ready."
    }),
    page.archive({ description: "Returns the archived record. The page is then not found until it is restored." }),
    page.restore({
      error: [NotFound, Conflict],
      description:
        "The page has its former status. It is refused if its experience is archived (409 `PARENT_ARCHIVED`), or if " +
        "another page now has its slug (409 `SLUG_TAKEN`)."
    }),
    HttpApiEndpoint.post("publishExperiencePage", "/experience-pages/:id/publish", {
      params,
      success: ExperiencePage,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Publish an experience page",
        description:
          "Sets the status to `PUBLISHED`. `publishedAt` is the first publication, `lastPublishedAt` the latest; a page " +
          "can be published repeatedly. Consumers read the document of a page of kind `experience-page` at `GET " +
          "/experiences/{experienceId}/page`: by its slug, or without a slug the page that was published last."
      })
    ),
    HttpApiEndpoint.post("unpublishExperiencePage", "/experience-pages/:id/unpublish", {
      params,
      success: ExperiencePage,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Unpublish an experience page",
        description:
          "Sets the status to `DRAFT`. Consumers no longer find the page. `publishedAt` and `lastPublishedAt` keep their " +
          "values. A draft stays unchanged, so the request can be repeated."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Experience pages",
      description: "Creative documents of experiences: emails, messages and pages."
    })
  ) {}
