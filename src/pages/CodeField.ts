/** The field for a one-time code, in rooms and in the dashboard. */
import { html } from "./Html.ts"

/** Six digits of any script, with anything between them: codes are pasted as they were sent. */
const pattern = String.raw`\P{Nd}*(?:\p{Nd}\P{Nd}*){6,12}`

export const codeField = html`<input
  name="code"
  inputmode="numeric"
  autocomplete="one-time-code"
  pattern="${pattern}"
  maxlength="100"
  required
/>`
