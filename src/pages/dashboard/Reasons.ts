/** The reasons for an act of staff, in words. */
import { StaffReason } from "../../domain/mechanism/Author.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import { html } from "../Html.ts"

export const reasonNames: { readonly [R in StaffReason]: string } = {
  TECHNICAL_PROBLEM: "A technical problem",
  HIGH_LOAD: "High load",
  STOCK_CHANGED: "The stock changed",
  SUSPECTED_ABUSE: "Suspected abuse",
  CUSTOMER_CARE: "Customer care",
  SCHEDULE_CHANGED: "The schedule changed",
  OTHER: "Another reason"
}

/** The choice of a reason. */
export const reasons = html`<label
  >Reason
  <select name="reason">
    ${StaffReason.literals.map((reason) => html`<option value="${reason}">${reasonNames[reason]}</option>`)}
  </select></label
>`

/** The same choice, with none made yet, and who reads it. A step that was planned has no reason of its own. */
export const emptyReasons = html`<label
  >Reason
  <select name="reason" required>
    <option value="">Choose one</option>
    ${StaffReason.literals.map((reason) => html`<option value="${reason}">${reasonNames[reason]}</option>`)}
  </select>
  <span class="hint">For a step that was planned: “${reasonNames.OTHER}”.</span></label
>`

/** Who sees the acts on a mechanism with their reasons: a queue tells everybody, on the page about its line. */
export const seenByText = (kind: Kind): string =>
  kind === "queue"
    ? "Everybody can read each step and its reason on the page about this line, which its room links to."
    : "Visitors do not see the reason. It stays in the history."
