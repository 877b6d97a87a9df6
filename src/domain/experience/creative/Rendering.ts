/**
 * Renders creative documents as messages: an email as HTML and plain text, an SMS as text. The placeholders are in
 * `rendering/Placeholders.ts`.
 */
import type { Theme } from "../Experience.ts"
import type { EmailDocument, SmsDocument } from "./Document.ts"
import { htmlOf } from "./rendering/Html.ts"
import { plainTextOf } from "./rendering/PlainText.ts"
import { cut, fill, onOneLine, type Values } from "./rendering/Placeholders.ts"

export interface RenderedEmail {
  readonly subject: string
  readonly html: string
  readonly text: string
}

/** Limit for an email's subject in UTF-16 units. Mail programs show less. */
const subjectLengthMax = 200

/** Renders the email. The document's own theme overrides `theme`. */
export const renderEmail = (
  { body, themeOverrides }: typeof EmailDocument.Type,
  values: Values,
  theme: typeof Theme.Type
): RenderedEmail => {
  const subject = onOneLine(fill(body.subjectTemplate, values), subjectLengthMax)
  const rendering = { values, theme: { ...theme, ...themeOverrides }, known: new Map<string, string>() }
  return { subject, html: htmlOf(subject, body.nodes, rendering), text: plainTextOf(body.nodes, rendering) }
}

/** Limit for an SMS in UTF-16 units. Providers send that much as one message of several parts. */
const smsLengthMax = 1_600

/** Renders the SMS and truncates it to the limit. */
export const renderSms = ({ body }: typeof SmsDocument.Type, values: Values): string =>
  cut(fill(body.textTemplate, values).trim(), smsLengthMax)
