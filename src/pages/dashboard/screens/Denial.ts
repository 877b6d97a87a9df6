/** Denies a place of one consumer. */
import { Effect } from "effect"
import { AdminReason } from "../../../domain/mechanism/Denial.ts"
import { deniableKinds, type Kind } from "../../../domain/mechanism/Mechanism.ts"
import { standingOf } from "../../../domain/mechanism/PlaceFields.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminCalls } from "../AdminCalls.ts"
import { formTo, type Place, type PlaceAction } from "./PlaceAction.ts"

const reasonNames: { readonly [R in AdminReason]: string } = {
  FRAUD_DETECTED: "Fraud",
  BOT_DETECTED: "A bot",
  ADMIN_ACTION: "Another reason"
}

const isDeniable = ({ type, status }: Place): boolean => {
  const standing = standingOf(type, status)
  return (deniableKinds as ReadonlyArray<Kind>).includes(type) && (standing === "waiting" || standing === "admitted")
}

/** The form that leads to the screen, for a place that can be denied. */
export const denyForm = (consumerPath: string, place: Place): Html | string =>
  isDeniable(place) ? formTo(consumerPath, "deny", place, "Deny…", (name) => `Deny the place in ${name}`) : "–"

const reasons = html`<label
  >Reason
  <select name="reason">
    ${AdminReason.literals.map((one) => html`<option value="${one}">${reasonNames[one]}</option>`)}
  </select></label
>`

export const denial = (calls: AdminCalls["Service"]): PlaceAction<AdminReason> => ({
  path: "deny",
  reason: AdminReason,
  reasons,
  titleOf: (name) => `Deny the place in ${name}?`,
  effect: "1 consumer loses its place, and a grant that it has. The page of the consumer says so. This is final.",
  button: html`<button class="danger">Deny</button>`,
  act: Effect.fnUntraced(function* (operator, { id, name }, consumerId, reason) {
    const { denied, unchanged } = yield* calls.run(operator, "distributions", "denyDistributionConsumers", {
      params: { id },
      payload: { consumerIds: [consumerId], reason }
    })
    return denied + unchanged > 0
      ? `The place in ${name} was denied.`
      : `This consumer has no place in ${name} any more.`
  })
})
