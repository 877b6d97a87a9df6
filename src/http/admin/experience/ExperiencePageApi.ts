/** Experience pages on the Admin API: the declaration (interface document 2.1 to 2.4 and 4.1; completions 4). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { nodeLevelsMax, nodesMax } from "../../../domain/experience/creative/EmailNode.ts"
import { placeholders } from "../../../domain/experience/creative/rendering/Placeholders.ts"
import { ExperiencePage, PageStatus, Settings } from "../../../domain/experience/ExperiencePage.ts"
import { Id } from "../../../domain/values/Ids.ts"
import * as ExperiencePages from "../../../store/experience/ExperiencePages.ts"
import { documentBytesMax } from "../../../store/mechanism/GrantMessages.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"

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
  "Messages about grants (`grantMessages` of the organization) are written from the published page of the experience with " +
  "kind `transactional-email`, and with kind `transactional-sms`, that was published last, as it is at that moment; one of " +
  `more than ${documentBytesMax / 1_024} KiB is not used. Its subject, texts and addresses may have placeholders, \`{{consumerName}}\`: ` +
  `${placeholderList}. One that is unknown or has no value becomes empty. An email goes out as HTML and as plain text: ` +
  "placeholders are escaped, and within an address encoded; a link must be absolute (`https`, `http`, `mailto`, `tel`), an " +
  "image too (`https`, `http`), and what is not is shown as text; of the theme an email wears the colours `background`, `surface`, " +
  "`text`, `muted`, `primary` and both fonts. The input of `dynamic-text` is a type of mechanism."

const params = { id: Id }

const { create, list, get, change, archive, restore } = operationsOn({
  name: "ExperiencePage",
  aNoun: "an experience page",
  path: "experience-pages",
  record: ExperiencePage
})

export class ExperiencePageApi extends HttpApiGroup.make("experiencePages")
  .add(
    create({
      payload: CreateExperiencePage,
      error: [NotFound, Conflict],
      description:
        "The slug is the page's own among the pages of its experience (409 `SLUG_TAKEN`); an archived page gives its slug back. " +
        "The creative document is checked whole, at any depth, and each mistake in it has an issue with its path. Fields that " +
        "the vocabulary does not know are ignored; the body of `rich-content-v0` is kept as it is. " +
        `An email has at most ${nodesMax} nodes, at most ${nodeLevelsMax} levels deep.\n\n${messagesDescription}`
    }),
    list({
      shape: ExperiencePages.shape,
      search: "the title and the slug",
      only: {
        experienceId: Schema.optionalKey(Id.annotate({ description: "Only those of this experience." })),
        status: Schema.optionalKey(PageStatus.annotate({ description: "Only those in this status." }))
      },
      page: "ExperiencePageList",
      description:
        "All that are not archived, or with `archived=true` those that are, with their creative documents. Where these are large, a page of the list ends after " +
        `${ExperiencePages.documentBytesMax / 2 ** 20} MiB of them and has fewer items than were asked for; its cursors go on from there.`
    }),
    get(),
    change({
      payload: ChangeExperiencePage,
      error: [NotFound, Conflict],
      description:
        "Send the fields to change: one that is absent keeps its value, null takes an optional one away. The creative document is " +
        "replaced as a whole. A page stays with its experience, and its status is changed by publishing and unpublishing alone. " +
        "Nothing is frozen by publishing: consumers see a change of a published page at once, it stays `PUBLISHED`, and " +
        "`publishedAt` and `lastPublishedAt` stay as they are, so that an `updatedAt` after `lastPublishedAt` says that it has " +
        "changed since. To prepare a change unseen, make another page and publish that one when it is ready."
    }),
    archive({ description: "Answers the archived record. It is not found any more afterwards, until it is restored." }),
    restore({
      error: [NotFound, Conflict],
      description:
        "Its status is what it was. If its experience is archived it is refused (409 `PARENT_ARCHIVED`), and so it is if another page has its slug now (409 `SLUG_TAKEN`)."
    }),
    HttpApiEndpoint.post("publishExperiencePage", "/experience-pages/:id/publish", {
      params,
      success: ExperiencePage,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Publish an experience page",
        description:
          "The status is `PUBLISHED` from then on. `publishedAt` is the first publication, `lastPublishedAt` this one: a page can " +
          "be published as often as one likes. Consumers find the document of a page of kind `experience-page` at " +
          "`GET /experiences/{experienceId}/page`: by its slug, and without a slug if it is the page that was published last."
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
          "The status is `DRAFT` again, and consumers do not find the page any more. `publishedAt` and `lastPublishedAt` stay. " +
          "A draft stays as it is, so the request can be repeated."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Experience pages",
      description: "Creative documents of experiences: emails, messages and pages."
    })
  ) {}
