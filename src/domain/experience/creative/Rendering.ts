/**
 * Creative documents as messages (interface document 2.2 to 2.4): an email as HTML and plain text, an SMS as text. The
 * vocabulary of placeholders is in `rendering/Placeholders.ts`.
 */
import type { Theme } from "../Experience.ts"
import type { EmailDocument, SmsDocument } from "./Document.ts"
import { htmlOf } from "./rendering/Html.ts"
import { plainTextOf } from "./rendering/PlainText.ts"
import { cut, fill, onOneLine, type Values } from "./rendering/Placeholders.ts"

/** UTF-16 units of an email's subject; mail programs show less. */
const subjectLengthMax = 200

/** UTF-16 units of an SMS: as many as providers send as one message of several parts. */
const smsLengthMax = 1_600

/** An email as it is sent. */
export interface RenderedEmail {
  readonly subject: string
  readonly html: string
  readonly text: string
}

/** Writes the email. The document's own theme goes before `theme`. */
export const renderEmail = (
  { body, themeOverrides }: typeof EmailDocument.Type,
  values: Values,
  theme: typeof Theme.Type
): RenderedEmail => {
  const subject = onOneLine(fill(body.subjectTemplate, values), subjectLengthMax)
  const rendering = { values, theme: { ...theme, ...themeOverrides }, known: new Map<string, string>() }
  return { subject, html: htmlOf(subject, body.nodes, rendering), text: plainTextOf(body.nodes, rendering) }
}

/** Writes the SMS; what is too long is cut. */
export const renderSms = ({ body }: typeof SmsDocument.Type, values: Values): string =>
  cut(fill(body.textTemplate, values).trim(), smsLengthMax)
