/** The editor of a page's document as JSON, and its preview by the renderers that consumers' pages and messages use. */
import { Option, Schema } from "effect"
import { CreativeDocument } from "../../../domain/experience/creative/Document.ts"
import { renderEmail, renderSms } from "../../../domain/experience/creative/Rendering.ts"
import { pageHtml } from "../../../domain/experience/creative/rendering/PageHtml.ts"
import { formatsOf } from "../../Formats.ts"
import { type Html, html, nothing } from "../../Html.ts"
import { contextOf } from "../../room/Document.ts"
import { wordsIn } from "../../Words.ts"
import { action, field } from "../Frame.ts"

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const decoded = Schema.decodeUnknownOption(CreativeDocument)

/** Returns the JSON value of a typed document, or the error in the text. */
export const documentIn = (text: string): { readonly document: unknown } | { readonly problem: string } => {
  const document = Option.getOrUndefined(parsed(text))
  return document === undefined ? { problem: "The document is not valid JSON." } : { document }
}

/** The fields of the form of a page. */
interface Typed {
  readonly title: string
  readonly slug: string
  /** The document as text. */
  readonly typed: string
}

/** The forms that change a page. */
export const editorOf = (
  { id, status }: { readonly id: string; readonly status: "DRAFT" | "PUBLISHED" },
  { title, slug, typed }: Typed
): Html => html`
  <form method="post" action="/dashboard/pages/${id}" class="card">
    ${field("Title", "title", { value: title })} ${field("Slug", "slug", { value: slug })}
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
  <div class="actions">
    ${
      status === "DRAFT"
        ? action(`/dashboard/pages/${id}/publish`, "Publish")
        : action(`/dashboard/pages/${id}/unpublish`, "Unpublish", false, "quiet")
    }
  </div>
`

/** Returns the typed document if it is that of a page, which is shown as the room. */
export const pageDocumentIn = (document: unknown) =>
  Option.getOrUndefined(Option.filter(decoded(document), ({ editor }) => editor === "rich-content-v0"))

/** The preview of a document, with the names of the nodes that consumers will not see. `room` is that of a page. */
export const previewOf = (document: unknown, room: Html | undefined): Html => {
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
