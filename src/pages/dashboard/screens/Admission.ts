/** Admits one consumer that waits in a queue, out of order. */
import { Effect } from "effect"
import { StaffReason } from "../../../domain/mechanism/Author.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { reasons } from "../ControlRoom.ts"
import { formTo, type Place, type PlaceAction } from "./PlaceAction.ts"

/** The form that leads to the screen, for a place that waits in a queue. */
export const admitForm = (consumerPath: string, place: Place): Html | false =>
  place.type === "queue" &&
  place.status === "QUEUED" &&
  formTo(consumerPath, "admit", place, "Admit…", (name) => `Admit to ${name}`)

export const admission = (api: AdminApiClient["Service"]): PlaceAction<StaffReason> => ({
  path: "admit",
  reason: StaffReason,
  reasons,
  titleOf: (name) => `Admit to ${name}?`,
  effect:
    "1 consumer is admitted at once, before all others that wait, and beside the rate. The line that visitors can check counts it.",
  button: html`<button>Admit</button>`,
  act: Effect.fnUntraced(function* (operator, { id, name }, consumerId, reason) {
    const { admitted, unchanged } = yield* api.run(operator, "queues", "admit", {
      params: { id },
      payload: { consumerIds: [consumerId], reason }
    })
    if (unchanged > 0) return `This consumer was admitted to ${name} before.`
    return admitted > 0
      ? `The consumer was admitted to ${name}.`
      : `This consumer does not wait in ${name} any more, or no admission is left.`
  })
})
