/**
 * Actions on a place of one consumer: to admit it out of order, and to deny it. A screen first states the effect and asks
 * for the reason.
 */
import { Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isolated } from "../../../domain/values/Direction.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { type Html, html } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { confirmation, type Screen } from "../Frame.ts"
import type { RouteRequest } from "../Route.ts"
import { StaffReason } from "../../../domain/mechanism/Author.ts"
import { reasons } from "../Reasons.ts"
import { AdminReason } from "../../../domain/mechanism/Denial.ts"
import { deniableKinds, type Kind } from "../../../domain/mechanism/Mechanism.ts"
import { standingOf } from "../../../domain/mechanism/PlaceFields.ts"

export type Place = AdminAnswer<"consumers", "listConsumerPlaces">["data"][number]

export interface PlaceAction<Reason extends string> {
  /** The last part of the address. */
  readonly path: string
  readonly reason: Schema.Codec<Reason>
  /** The field that asks for the reason. */
  readonly reasons: Html
  readonly titleOf: (mechanismName: string) => string
  readonly effect: string
  readonly button: Html
  /** Acts on the place. Returns the result in a sentence. */
  readonly act: (
    operator: Operator,
    mechanism: { readonly id: string; readonly name: string },
    consumerId: string,
    reason: Reason
  ) => Effect.Effect<string, Refusal, HttpServerRequest.HttpServerRequest>
}

/** The form that leads to the screen. */
const formTo = (
  consumerPath: string,
  action: string,
  { distributionId, name }: Place,
  label: string,
  spokenLabel: (mechanismName: string) => string
): Html =>
  html`<form method="post" action="${consumerPath}/${action}">
    <input type="hidden" name="mechanism" value="${distributionId}" />
    <button class="quiet" aria-label="${spokenLabel(isolated(name, ""))}">${label}</button>
  </form>`

/** Makes the function that asks for a reason, or acts. Returns the result in a sentence, or the screen. */
export const makePlaceAction = <Reason extends string>(
  api: AdminApiClient["Service"],
  consumersPath: string,
  action: PlaceAction<Reason>
) => {
  const decode = Schema.decodeUnknownOption(action.reason)
  return Effect.fnUntraced(function* (operator: Operator, { params, fields }: RouteRequest) {
    const consumerId = params["id"]!
    const id = fields.get("mechanism") ?? ""
    const mechanism = yield* api.run(operator, "distributions", "getDistribution", { params: { id } })
    const name = isolated(mechanism.name, "")
    const reason = Option.getOrUndefined(decode(fields.get("reason")))
    if (reason === undefined) return { ask: askFor(action, `${consumersPath}/${consumerId}`, id, name) }
    return { done: yield* action.act(operator, { id, name }, consumerId, reason) }
  })
}

/** The screen that asks for the reason. */
const askFor = <Reason extends string>(
  { path, titleOf, effect, reasons, button }: PlaceAction<Reason>,
  consumerPath: string,
  mechanismId: string,
  mechanismName: string
): Screen => ({
  title: titleOf(mechanismName),
  body: html`
    <form method="post" action="${consumerPath}/${path}" class="card">
      ${confirmation(effect)}
      <input type="hidden" name="mechanism" value="${mechanismId}" />
      ${reasons} ${button}
      <a class="button quiet" href="${consumerPath}">Cancel</a>
    </form>
  `
})

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
    "1 consumer is admitted immediately, ahead of all others who wait, and in addition to the rate. The line that visitors can check shows it.",
  button: html`<button>Admit</button>`,
  act: Effect.fnUntraced(function* (operator, { id, name }, consumerId, reason) {
    const { admitted, unchanged } = yield* api.run(operator, "queues", "admit", {
      params: { id },
      payload: { consumerIds: [consumerId], reason }
    })
    if (unchanged > 0) return `This consumer was already admitted to ${name}.`
    return admitted > 0
      ? `The consumer was admitted to ${name}.`
      : `This consumer is no longer waiting in ${name}, or no admissions are left.`
  })
})

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

const denialReasons = html`<label
  >Reason
  <select name="reason">
    ${AdminReason.literals.map((one) => html`<option value="${one}">${reasonNames[one]}</option>`)}
  </select></label
>`

export const denial = (api: AdminApiClient["Service"]): PlaceAction<AdminReason> => ({
  path: "deny",
  reason: AdminReason,
  reasons: denialReasons,
  titleOf: (name) => `Deny the place in ${name}?`,
  effect: "1 consumer loses its place and any grant. The consumer's page says so. This cannot be undone.",
  button: html`<button class="danger">Deny</button>`,
  act: Effect.fnUntraced(function* (operator, { id, name }, consumerId, reason) {
    const { denied, unchanged } = yield* api.run(operator, "distributions", "denyDistributionConsumers", {
      params: { id },
      payload: { consumerIds: [consumerId], reason }
    })
    return denied + unchanged > 0
      ? `The place in ${name} was denied.`
      : `This consumer no longer has a place in ${name}.`
  })
})
