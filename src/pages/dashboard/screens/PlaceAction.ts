/** Actions on a place of one consumer. A screen first states the effect and asks for the reason. */
import { isolated } from "../../../domain/values/Direction.ts"
import { Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { type Html, html } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import type { AdminApiClient, AdminAnswer } from "../../ApiClients.ts"
import { confirmation, type Screen } from "../Frame.ts"
import type { Sent } from "../Route.ts"

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
export const formTo = (
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
export const make = <Reason extends string>(
  api: AdminApiClient["Service"],
  consumersPath: string,
  action: PlaceAction<Reason>
) => {
  const decode = Schema.decodeUnknownOption(action.reason)
  return Effect.fnUntraced(function* (operator: Operator, { params, fields }: Sent) {
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
