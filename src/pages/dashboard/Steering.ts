/**
 * Steers a mechanism. A form is first answered with a screen that states the effect and the number of consumers; that
 * screen sends the same fields again, confirmed by a random id (`Once.ts`). The history keeps the reason of an action
 * with its author.
 */
import { Clock, Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isolated } from "../../domain/values/Direction.ts"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { declarations } from "../../domain/mechanism/Mechanism.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import { toText } from "../../domain/values/Time.ts"
import { html } from "../Html.ts"
import { Refusal } from "../Refusal.ts"
import type { AdminApiClient } from "../ApiClients.ts"
import { countsOf, type Mechanism } from "./ControlRoom.ts"
import { formId } from "./FormId.ts"
import { confirmation, problemNote, type Screen } from "./Frame.ts"

export const actions = ["admit", "rate", "pause", "resume", "draw", "unpark", "end"] as const
export type Action = (typeof actions)[number]

export const isAction = (name: string | undefined): name is Action => actions.includes(name as Action)

/** A change of a draw's times has no reason in the API. */
const hasReason = (action: Action): boolean => action !== "draw"

const Count = Schema.decodeUnknownOption(Schema.NumberFromString.check(Schema.isInt()))
const Reason = Schema.decodeUnknownOption(StaffReason)

const wrong = (detail: string) => Effect.fail(new Refusal({ status: 400, code: "INVALID", detail }))

type Call<A> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

/** The effect of an action, in a sentence, and the call that does it. It may return the number of consumers it affected. */
interface Plan {
  readonly says: string
  /** The button that does it. */
  readonly button?: string
  readonly run: Call<number | void>
}

/**
 * Makes the function that plans or runs the action of a form. Returns the screen that asks, or the query with which the
 * control room states the result ({@link resultOf}).
 */
export const make = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, action: Action, fields: URLSearchParams) {
    const id = fields.get("mechanism") ?? ""
    const mechanism = yield* api.run(operator, "distributions", "getDistribution", { params: { id } })
    const reason = Option.getOrUndefined(Reason(fields.get("reason")))
    if (reason === undefined && hasReason(action)) return yield* wrong("Choose a reason.")
    const plan = yield* planOf(api, operator, mechanism, action, fields, reason)
    const confirmation = fields.get("confirmed") ?? ""
    if (!isUuid(confirmation)) return { ask: askFor(mechanism, action, plan, fields) }
    if (action === "end" && fields.get("word")?.trim().toUpperCase() !== endWord) {
      const problem = `Type ${endWord} to confirm. Nothing has changed.`
      return { ask: { ...askFor(mechanism, action, plan, fields, problem), status: 400 } }
    }
    const query = (count: number | void) =>
      new URLSearchParams({ done: action, mechanism: id, ...(typeof count === "number" && { count: `${count}` }) })
    return { done: query(yield* plan.run).toString() }
  })

/**
 * Returns the result of an action in a sentence, for the query of a control room. The query holds no text of its own, so
 * a link cannot put words on the page.
 */
export const resultOf =
  (query: URLSearchParams) =>
  (mechanisms: ReadonlyArray<Mechanism>): string | undefined => {
    const action = query.get("done") ?? undefined
    const mechanism = mechanisms.find(({ id }) => id === query.get("mechanism"))
    if (!isAction(action) || mechanism === undefined) return undefined
    const name = isolated(mechanism.name, "")
    switch (action) {
      case "admit":
        return `${Option.getOrElse(Count(query.get("count")), () => 0)} consumers were admitted.`
      case "rate":
        return mechanism.type === "queue" ? `The rate is ${mechanism.admitRate} per minute.` : undefined
      case "pause":
        return `${name} is paused.`
      case "resume":
        return `${name} is resumed.`
      case "draw":
        return `${name} has closed, and is being drawn.`
      case "unpark":
        return `${name} was started again.`
      case "end":
        return `${name} has ended.`
    }
  }

/** True if consumers wait for an outcome that an end prevents. */
const isContest = (type: Mechanism["type"]): boolean => type === "draw" || type === "auction"

/** The plan of an action that mechanisms of all kinds have. */
const planOfAny = (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Mechanism,
  action: "end" | "unpark",
  reason: StaffReason | undefined
): Plan => {
  const { id, type } = mechanism
  const name = isolated(mechanism.name, "")
  const input = { params: { id }, payload: { reason } }
  const run = api.run(operator, declarations[type].path, action, input)
  return action === "end"
    ? {
        says: `${name} closes immediately and permanently${isContest(type) ? ", and nobody else wins" : ""}. ${countsOf(mechanism).waiting} consumers lose their places; grants stay valid until they expire.`,
        run: Effect.asVoid(run)
      }
    : {
        says: `${name} starts again with everything it has recorded. If the cause of its failures remains, it is parked again within seconds.`,
        run: Effect.asVoid(run)
      }
}

/** The plan to draw before the time: the draw closes and is drawn at once. */
const planOfDraw = (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Extract<Mechanism, { readonly type: "draw" }>,
  now: number
): Plan => {
  const entries = countsOf(mechanism).waiting
  const winners = Math.min(mechanism.winnerCount, entries)
  const payload = { closeAt: toText(now), drawAt: toText(now) }
  return {
    says: `${isolated(mechanism.name, "")} takes no more entries. ${winners} of ${entries} entries win, by the draw that anyone can check.`,
    run: Effect.asVoid(api.run(operator, "draws", "change", { params: { id: mechanism.id }, payload }))
  }
}

const planOf = Effect.fnUntraced(function* (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Mechanism,
  action: Action,
  fields: URLSearchParams,
  reason: StaffReason | undefined
) {
  const params = { id: mechanism.id }
  const waiting = mechanism.live?.counts["QUEUED"] ?? 0
  if (action === "end" || action === "unpark") return planOfAny(api, operator, mechanism, action, reason)
  if (action === "draw") {
    if (mechanism.type !== "draw") return yield* wrong("Only draws support this action.")
    return planOfDraw(api, operator, mechanism, yield* Clock.currentTimeMillis)
  }
  if (mechanism.type !== "queue") return yield* wrong("Only queues support this action.")
  if (action === "pause" || action === "resume") {
    const plan: Plan = {
      says:
        action === "pause"
          ? `Nobody is admitted by the rate from now on. ${waiting} consumers are waiting and will see that the queue is paused.`
          : `The queue admits ${mechanism.admitRate} per minute again. ${waiting} consumers are waiting.`,
      run: Effect.asVoid(api.run(operator, "queues", action, { params, payload: { reason } }))
    }
    return plan
  }
  const number = Option.getOrUndefined(Count(fields.get(action === "admit" ? "count" : "admitRate")))
  if (number === undefined) return yield* wrong("Enter a whole number.")
  const plan: Plan =
    action === "admit"
      ? {
          says: `The next ${Math.min(number, waiting)} of ${waiting} waiting consumers are admitted immediately, in addition to the rate.`,
          button: waiting > 0 ? `Admit ${Math.min(number, waiting)}` : labels.admit,
          run: Effect.map(
            api.run(operator, "queues", "admit", { params, payload: { count: number, reason } }),
            ({ admitted }) => admitted
          )
        }
      : {
          button: `Change the rate to ${number}`,
          says: `The rate changes from ${mechanism.admitRate} to ${number} per minute. ${waiting} consumers are waiting, and their estimated waits change.`,
          run: Effect.asVoid(api.run(operator, "queues", "change", { params, payload: { admitRate: number, reason } }))
        }
  return plan
})

/** The word that confirms an end, which cannot be undone. */
const endWord = "END"

/** The screen that asks for a confirmation. */
const askFor = (
  mechanism: Mechanism,
  action: Action,
  { says, button = labels[action] }: Plan,
  fields: URLSearchParams,
  problem?: string
): Screen => {
  const path = `/dashboard/experiences/${mechanism.experienceId}`
  return {
    title: `${labels[action]} ${prepositions[action] ?? ""}${isolated(mechanism.name, "")}?`,
    body: html`
      <form method="post" action="${path}/${action}" class="card">
        ${
          problem === undefined
            ? confirmation(says)
            : html`${problemNote(problem)}
                <p class="lead">${says}</p>`
        }
        ${[...fields].filter(([name]) => name !== "confirmed" && name !== "word").map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        ${formId()}
        ${
          action === "end" &&
          html`<label
            >Type ${endWord} to confirm
            <input name="word" required autocomplete="off" autocapitalize="characters" spellcheck="false"
          /></label>`
        }
        <button class="${action === "end" ? "danger" : ""}">${button}</button>
        <a class="button quiet" href="${path}">Cancel</a>
      </form>
    `
  }
}

const labels: { readonly [A in Action]: string } = {
  admit: "Admit",
  rate: "Change the rate",
  pause: "Pause",
  resume: "Resume",
  draw: "Draw now",
  unpark: "Unpark",
  end: "End"
}

/** Between the label of an action and the name of its mechanism. */
const prepositions: { readonly [A in Action]?: string } = { admit: "to ", rate: "of " }
