/**
 * Steers a mechanism. A form is first answered with a screen that states the effect and the number of consumers; that
 * screen sends the same fields again, confirmed. Each action has a reason, which the history keeps with the author.
 */
import { Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isolated } from "../../domain/values/Direction.ts"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import { html } from "../Html.ts"
import { Refusal } from "../Refusal.ts"
import type { AdminApiClient } from "../ApiClients.ts"
import { countsOf, type Mechanism } from "./ControlRoom.ts"
import { confirmation, type Screen } from "./Frame.ts"

export const actions = ["admit", "rate", "pause", "resume", "unpark", "end"] as const
export type Action = (typeof actions)[number]

export const isAction = (name: string | undefined): name is Action => actions.includes(name as Action)

const Count = Schema.decodeUnknownOption(Schema.NumberFromString.check(Schema.isInt()))
const Reason = Schema.decodeUnknownOption(StaffReason)

const wrong = (detail: string) => Effect.fail(new Refusal({ status: 400, code: "INVALID", detail }))

/** The effect of an action, in a sentence, and the call that does it. Returns the result, in a sentence. */
interface Plan {
  readonly says: string
  readonly run: Effect.Effect<string, Refusal, HttpServerRequest.HttpServerRequest>
}

/** Makes the function that plans or runs the action of a form. */
export const make = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, action: Action, fields: URLSearchParams) {
    const id = fields.get("mechanism") ?? ""
    const mechanism = yield* api.run(operator, "distributions", "getDistribution", { params: { id } })
    const reason = Option.getOrUndefined(Reason(fields.get("reason")))
    if (reason === undefined) return yield* wrong("Choose a reason.")
    const plan = yield* planOf(api, operator, mechanism, action, fields, reason)
    if (fields.get("confirmed") !== "yes") return { ask: askFor(mechanism, action, plan.says, fields) }
    return { done: yield* plan.run }
  })

/** The plan of an action that mechanisms of all kinds have. */
const planOfAny = (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Mechanism,
  action: "end" | "unpark",
  reason: StaffReason
): Plan => {
  const { id, type } = mechanism
  const name = isolated(mechanism.name, "")
  const input = { params: { id }, payload: { reason } }
  const run = api.run(operator, declarations[type].path, action, input)
  return action === "end"
    ? {
        says: `${name} closes at once and for good. ${countsOf(mechanism).waiting} consumers in it lose their places; grants stay valid until they expire.`,
        run: Effect.as(run, `${name} has ended.`)
      }
    : {
        says: `${name} starts again with all that it has recorded. If the cause of its failures remains, it is parked again within seconds.`,
        run: Effect.as(run, `${name} was started again.`)
      }
}

const planOf = Effect.fnUntraced(function* (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Mechanism,
  action: Action,
  fields: URLSearchParams,
  reason: StaffReason
) {
  const params = { id: mechanism.id }
  const waiting = mechanism.live?.counts["QUEUED"] ?? 0
  if (action === "end" || action === "unpark") return planOfAny(api, operator, mechanism, action, reason)
  if (mechanism.type !== "queue") return yield* wrong("Only queues support this action.")
  if (action === "pause" || action === "resume") {
    const plan: Plan = {
      says:
        action === "pause"
          ? `The rate admits nobody from now on. ${waiting} consumers wait and see that the queue is paused.`
          : `The rate admits again, ${mechanism.admitRate} a minute. ${waiting} consumers wait.`,
      run: Effect.as(
        api.run(operator, "queues", action, { params, payload: { reason } }),
        `${isolated(mechanism.name, "")} is ${action === "pause" ? "paused" : "resumed"}.`
      )
    }
    return plan
  }
  const number = Option.getOrUndefined(Count(fields.get(action === "admit" ? "count" : "admitRate")))
  if (number === undefined) return yield* wrong("A whole number is needed.")
  const plan: Plan =
    action === "admit"
      ? {
          says: `The next ${Math.min(number, waiting)} of ${waiting} waiting consumers are admitted at once, beside the rate.`,
          run: Effect.map(
            api.run(operator, "queues", "admit", { params, payload: { count: number, reason } }),
            ({ admitted }) => `${admitted} consumers were admitted.`
          )
        }
      : {
          says: `The rate changes from ${mechanism.admitRate} to ${number} a minute. ${waiting} consumers wait, and their estimates change.`,
          run: Effect.as(
            api.run(operator, "queues", "change", { params, payload: { admitRate: number, reason } }),
            `The rate is ${number} a minute.`
          )
        }
  return plan
})

/** The screen that asks for a confirmation. */
const askFor = (mechanism: Mechanism, action: Action, says: string, fields: URLSearchParams): Screen => {
  const path = `/dashboard/experiences/${mechanism.experienceId}`
  return {
    title: `${titles[action]} ${isolated(mechanism.name, "")}?`,
    body: html`
      <form method="post" action="${path}/${action}" class="card">
        ${confirmation(says)}
        ${[...fields].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        <input type="hidden" name="confirmed" value="yes" />
        <button class="${action === "end" ? "danger" : ""}">${titles[action]}</button>
        <a class="button quiet" href="${path}">Cancel</a>
      </form>
    `
  }
}

const titles: { readonly [A in Action]: string } = {
  admit: "Admit into",
  rate: "Change the rate of",
  pause: "Pause",
  resume: "Resume",
  unpark: "Unpark",
  end: "End"
}
