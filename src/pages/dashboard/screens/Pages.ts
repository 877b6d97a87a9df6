/** Experience pages: the list, a new one, and one page with its blocks, the source of its document, preview and publication. */
import { Effect, Option, Schema } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html, nothing } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { action, asked, doneNote, field, problemNote } from "../Frame.ts"
import { formId } from "../FormId.ts"
import { makeUpload } from "../form/Upload.ts"
import { get, post, postFiles, type Reply, type RouteRequest } from "../Route.ts"
import { filter, filters, instant, listQueryOf, pager, search, table } from "../Table.ts"
import { blockForm, blocksOf, documentOf, hasBlocks, pictureNames } from "./PageBlocks.ts"
import type { MakePreview } from "./PagePreview.ts"
import { CreativeDocument } from "../../../domain/experience/creative/Document.ts"
import { renderEmail, renderSms } from "../../../domain/experience/creative/Rendering.ts"
import { pageHtml } from "../../../domain/experience/creative/rendering/PageHtml.ts"
import { formatsOf } from "../../Formats.ts"
import { contextOf } from "../../room/Document.ts"
import { wordsIn } from "../../Words.ts"

type Page = AdminAnswer<"experiencePages", "getExperiencePage">
type Api = AdminApiClient["Service"]

const path = "/dashboard/pages"

/** The contents of a new page: its slots, in the order of the default page. */
const firstDocument = {
  schemaVersion: 1,
  editor: "rich-content-v0",
  kind: "experience-page",
  body: { blocks: [{ type: "countdown" }, { type: "place" }, { type: "products" }, { type: "rules" }] }
}

/** The routes of pages. */
export const make = (api: Api, preview: MakePreview) => {
  const screenOf = makeScreenOf(preview)
  const showAll = makeShowAll(api)
  const edit = makeEdit(api, screenOf)
  const find = (operator: Operator, { params }: RouteRequest) =>
    api.run(operator, "experiencePages", "getExperiencePage", { params: { id: params["id"]! } })

  return [
    get("/pages", showAll),
    post("/pages", "operator", makeCreate(api, showAll)),
    get("/pages/:id", (operator, sent) => Effect.flatMap(find(operator, sent), (page) => screenOf(operator, page))),
    postFiles(
      "/pages/:id",
      "operator",
      Effect.fnUntraced(function* (operator, sent) {
        const page = yield* find(operator, sent)
        return yield* edit(operator, page, sent)
      })
    ),
    ...(["publish", "unpublish"] as const).map((change) =>
      post(
        `/pages/:id/${change}`,
        "operator",
        Effect.fnUntraced(function* (operator, sent) {
          const { id, title } = yield* find(operator, sent)
          if (change === "unpublish" && !sent.fields.has("confirmed")) return unpublishing(id, title)
          const page = yield* api.run(operator, "experiencePages", `${change}ExperiencePage`, { params: { id } })
          return { goTo: `${path}/${id}`, done: `The page is ${page.status.toLowerCase()}.` }
        })
      )
    )
  ]
}

const unpublishing = (id: string, title: string) =>
  asked({
    title: `Unpublish ${isolated(title, "")}?`,
    says: "Consumers no longer see this page. Its address shows the page that was published before it, or the default one.",
    path: `${path}/${id}/unpublish`,
    back: `${path}/${id}`,
    button: "Unpublish",
    isHarmful: true
  })

const makeShowAll = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, { query, fields }: RouteRequest, problem?: string) {
    const page = yield* api.run(operator, "experiencePages", "listExperiencePages", {
      query: { sortDir: "desc", ...listQueryOf(query, ["search", "status"]) }
    })
    const { data: experiences } = yield* api.run(operator, "experiences", "listExperiences", {
      query: { first: "100", sortDir: "desc" }
    })
    const names = new Map(experiences.map(({ id, name }) => [id, name]))
    const mayCreate = mayDo(operator.role, "operator") && experiences.length > 0
    return {
      title: "Pages",
      status: problem === undefined ? 200 : 400,
      body: html`
        ${filters(
          path,
          html`${search("Title or slug", query)} ${filter("Status", "status", ["DRAFT", "PUBLISHED"], query)}`
        )}
        ${table<Page>(
          "Pages, newest first",
          page.data,
          [
            { title: "Title", cell: ({ id, title }) => html`<a href="${path}/${id}">${title}</a>` },
            { title: "Slug", cell: ({ slug }) => slug },
            { title: "Experience", cell: ({ experienceId }) => names.get(experienceId) ?? experienceId },
            { title: "Kind", cell: ({ creativeDocument }) => kindOf(creativeDocument) },
            { title: "Status", cell: ({ status }) => status },
            { title: "Published", cell: ({ lastPublishedAt }) => instant(lastPublishedAt) }
          ],
          experiences.length === 0
            ? html`A page belongs to a drop. <a href="/dashboard/new">Create a drop</a>`
            : "No pages here. Rooms show a default page until one is published."
        )}
        ${pager(page, path, query)} ${mayCreate && newForm(experiences, fields, problem)}
      `
    }
  })

const kindOf = (document: unknown): string => (document as { readonly kind: string }).kind

const newForm = (
  experiences: ReadonlyArray<{ readonly id: string; readonly name: string }>,
  fields: URLSearchParams,
  problem: string | undefined
): Html => html`
  <form method="post" action="${path}" class="card">
    <h2>New page</h2>
    ${problemNote(problem)}
    <label
      >Experience
      <select name="experienceId">
        ${experiences.map(
          ({ id, name }) =>
            html`<option dir="auto" value="${id}" ${id === fields.get("experienceId") && html`selected`}>
              ${name}
            </option>`
        )}
      </select></label
    >
    ${field("Title", "title", { value: fields.get("title") ?? "" }, "Shown to consumers.")}
    ${field("Slug", "slug", { value: fields.get("slug") ?? "" }, "The last part of the page's address.")}
    ${formId()}<button>Create page</button>
  </form>
`

/** Makes the form that creates a draft and opens its editor. */
const makeCreate = (api: Api, showAll: ReturnType<typeof makeShowAll>) => (operator: Operator, sent: RouteRequest) => {
  const { fields } = sent
  const payload = {
    experienceId: fields.get("experienceId") ?? "",
    title: fields.get("title")?.trim() ?? "",
    slug: fields.get("slug")?.trim() ?? "",
    creativeDocument: firstDocument
  }
  return api.run(operator, "experiencePages", "createExperiencePage", { payload }).pipe(
    Effect.map(({ id }) => ({ goTo: `${path}/${id}` })),
    Effect.catchTag("Refusal", (refusal) =>
      isOfForm(refusal) ? showAll(operator, sent, refusal.detail ?? "A value is not valid.") : Effect.fail(refusal)
    )
  )
}

/** True if another input could be accepted. */
const isOfForm = ({ status }: Refusal): boolean => status === 400 || status === 409

/** The parts of a screen of a page besides the page. */
interface EditState {
  readonly done?: string
  readonly problem?: string
  /** The typed values. */
  readonly fields?: URLSearchParams
}

/** Makes the function that shows a page with its editor and its preview. */
const makeScreenOf = (preview: MakePreview) =>
  Effect.fnUntraced(function* (operator: Operator, page: Page, { done, problem, fields }: EditState = {}) {
    const typed = fields?.get("document") ?? JSON.stringify(page.creativeDocument, undefined, 2)
    const title = fields?.get("title") ?? page.title
    const slug = fields?.get("slug") ?? page.slug
    const found = documentIn(typed)
    const creativeDocument = "document" in found ? pageDocumentIn(found.document) : undefined
    const room =
      creativeDocument === undefined
        ? undefined
        : yield* preview(operator, { experienceId: page.experienceId, title, creativeDocument })
    return {
      title: page.title,
      status: problem === undefined ? 200 : 400,
      styles: room?.styles ?? [],
      body: html`
        ${doneNote(done)} ${problemNote(problem)}
        <p>
          <span class="badge">${page.status}</span> of
          <a href="/dashboard/experiences/${page.experienceId}">its experience</a>, published
          ${instant(page.lastPublishedAt)}
        </p>
        ${mayDo(operator.role, "operator") && editorOf(page, { title, slug, typed })}
        ${"document" in found ? previewOf(found.document, room?.html) : html`<p class="error">${found.problem}</p>`}
      `
    }
  })

/** Makes the function that saves the form of the editor, or only shows its preview. */
const makeEdit = (api: Api, screenOf: ReturnType<typeof makeScreenOf>) => {
  const upload = makeUpload(api)
  return Effect.fnUntraced(function* (operator: Operator, page: Page, sent: RouteRequest) {
    const { fields } = sent
    if (!fields.has("document") && hasBlocks(fields)) {
      const [problem] = (yield* upload(operator, sent, pictureNames(fields))).values()
      fields.set("document", JSON.stringify(documentOf(fields), undefined, 2))
      if (problem !== undefined) return yield* screenOf(operator, page, { problem, fields })
    }
    const found = documentIn(fields.get("document") ?? "")
    if (!("document" in found)) return yield* screenOf(operator, page, { problem: found.problem, fields })
    if (fields.get("do") !== "save") {
      return yield* screenOf(operator, page, { done: "This is a preview. Nothing was saved.", fields })
    }
    const payload = {
      title: fields.get("title")?.trim() ?? "",
      slug: fields.get("slug")?.trim() ?? "",
      creativeDocument: found.document
    }
    return yield* api
      .run(operator, "experiencePages", "changeExperiencePage", { params: { id: page.id }, payload })
      .pipe(
        Effect.map((): Reply => ({ goTo: `${path}/${page.id}`, done: "The page was saved." })),
        Effect.catchTag("Refusal", (refusal) =>
          isOfForm(refusal)
            ? screenOf(operator, page, { problem: refusal.detail ?? "A value is not valid.", fields })
            : Effect.fail(refusal)
        )
      )
  })
}

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const decoded = Schema.decodeUnknownOption(CreativeDocument)

/** Returns the JSON value of a typed document, or the error in the text. */
const documentIn = (text: string): { readonly document: unknown } | { readonly problem: string } => {
  const document = Option.getOrUndefined(parsed(text))
  return document === undefined ? { problem: "The document is not valid JSON." } : { document }
}

/** The fields of the form of a page. */
interface PageFields {
  readonly title: string
  readonly slug: string
  /** The document as text. */
  readonly typed: string
}

/** The forms that change a page: its blocks as fields, and behind them the source. Another document has only the source. */
const editorOf = (
  { id, status }: { readonly id: string; readonly status: "DRAFT" | "PUBLISHED" },
  { title, slug, typed }: PageFields
): Html => {
  const head = html`${field("Title", "title", { value: title })} ${field("Slug", "slug", { value: slug })}`
  const found = documentIn(typed)
  const document = "document" in found ? found.document : undefined
  const blocks = blocksOf(document)
  const source = html`
    <form method="post" action="${path}/${id}" class="card">
      ${head}
      <label
        >Document
        <textarea name="document" rows="18" spellcheck="false" required>${"\n"}${typed}</textarea>
        <span class="hint"
          >JSON. <code>body.blocks</code> of a page holds nodes such as heading, p, image, button, and the parts place,
          countdown, products, rules.</span
        ></label
      >
      <button name="do" value="save">Save</button>
      <button name="do" value="preview" class="quiet">Preview without saving</button>
    </form>
  `
  return html`
    ${
      blocks === undefined
        ? source
        : html`${blockForm(`${path}/${id}`, document as object, blocks, head)}
            <details>
              <summary>Source</summary>
              ${source}
            </details>`
    }
    <div class="actions">
      ${
        status === "DRAFT"
          ? action(`${path}/${id}/publish`, "Publish")
          : action(`${path}/${id}/unpublish`, "Unpublish", false, "quiet", true)
      }
    </div>
  `
}

/** Returns the typed document if it is that of a page, which is shown as the room. */
const pageDocumentIn = (document: unknown) =>
  Option.getOrUndefined(Option.filter(decoded(document), ({ editor }) => editor === "rich-content-v0"))

/** The preview of a document, with the names of the nodes that consumers will not see. `room` is that of a page. */
const previewOf = (document: unknown, room: Html | undefined): Html => {
  const known = Option.getOrUndefined(decoded(document))
  return html`
    <section class="card" aria-label="Preview">
      <h2>Preview</h2>
      ${known === undefined ? html`<p class="error">This is not a document that can be saved.</p>` : shown(known, room)}
    </section>
  `
}

const shown = (document: CreativeDocument, room: Html | undefined): Html => {
  switch (document.editor) {
    case "rich-content-v0":
      return pageOf(document.body, room)
    case "email-components-v1": {
      const { subject, text } = renderEmail(document, {}, {})
      return html`<p class="lead">${subject}</p>
        <pre>${text}</pre>`
    }
    case "sms-text-v1":
      return html`<pre>${renderSms(document, {})}</pre>`
  }
}

const pageOf = (body: { readonly [name: string]: unknown }, room: Html | undefined): Html => {
  const context = contextOf({ formats: formatsOf("en", "UTC"), words: wordsIn("en", null) }, () => nothing)
  const rendered = pageHtml(body, context)
  return html`
    ${
      rendered.skipped.length > 0 &&
      html`<p class="error" role="alert">Unknown or malformed, and not shown: ${rendered.skipped.join(", ")}</p>`
    }
    ${room ?? html`<p>Consumers do not see the experience now, so there is no preview.</p>`}
  `
}
