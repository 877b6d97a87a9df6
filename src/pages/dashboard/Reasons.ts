/** The reasons for an act of staff, in words. */
import { StaffReason } from "../../domain/mechanism/Author.ts"
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

/** The same choice, with none made yet. */
export const emptyReasons = html`<label
  >Reason
  <select name="reason" required>
    <option value="">Choose one</option>
    ${StaffReason.literals.map((reason) => html`<option value="${reason}">${reasonNames[reason]}</option>`)}
  </select></label
>`
