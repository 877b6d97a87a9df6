/** The random id of a form, by which it acts once (`Once.ts`). */
import { randomUUID } from "node:crypto"
import { html } from "../Html.ts"

/** The field with the id, for a form that acts and does not only ask. */
export const formId = () => html`<input type="hidden" name="confirmed" value="${randomUUID()}" />`
