/**
 * Steers a mechanism. A form is first answered with a screen that states the effect and the number of consumers; that
 * screen sends the same fields again, confirmed by a random id (`Once.ts`). The history keeps the reason of an action
 * with its author.
 */
import { Effect, Option, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { isolated } from "../../../domain/values/Direction.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { StaffReason } from "../../../domain/mechanism/Author.ts"
import { declarations } from "../../../domain/mechanism/Mechanism.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import { html } from "../../Html.ts"
import { notFound, Refusal } from "../../Refusal.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { countsOf, type Mechanism } from "./Drop.ts"
import { formId } from "../FormId.ts"
import { confirmation, problemNote, type Screen } from "../Frame.ts"
import { count, counted } from "../Parts.ts"
import { isPointless, pointless, pointlessText } from "./Pointless.ts"

export const actions = ["admit", "rate", "inside", "pause", "resume", "draw", "close", "unpark", "end"] as const
export type Action = (typeof actions)[number]

const isAction = (name: string | undefined): name is Action => actions.includes(name as Action)

const Count = Schema.decodeUnknownOption(Schema.NumberFromString.check(Schema.isInt()))
const Reason = Schema.decodeUnknownOption(StaffReason)

const wrong = (detail: string) => Effect.fail(new Refusal({ status: 400, code: "INVALID", detail }))

type Call<A> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

/** The reason of an action, and a note for colleagues. */
interface Why {
  readonly reason: StaffReason | undefined
  readonly note: string | undefined
}

/** A sent form of a control room. */
interface Sent {
  readonly experienceId: string
  readonly action: Action
  readonly fields: URLSearchParams
}

/** The effect of an action, in a sentence, and the call that does it. It may return fields of the result's query. */
interface Plan {
  readonly says: string
  /** The button that does it. */
  readonly button?: string
  readonly run: Call<{ readonly [name: string]: string } | void>
}

/**
 * Makes the function that plans or runs the action of a form. Returns the screen that asks, or the query with which the
 * control room states the result ({@link resultOf}).
 */
export const make = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, { experienceId, action, fields }: Sent) {
    const id = fields.get("mechanism") ?? ""
    const mechanism = yield* api.run(operator, "distributions", "getDistribution", { params: { id } })
    if (mechanism.experienceId !== experienceId) return yield* notFound
    const reason = Option.getOrUndefined(Reason(fields.get("reason")))
    if (reason === undefined) return yield* wrong("Choose a reason.")
    const note = fields.get("note")?.trim() || undefined
    const plan = yield* planOf(api, operator, mechanism, action, fields, { reason, note })
    const because = pointless(mechanism, action, fields)
    if (because !== undefined) return { done: queryOf({ done: action, mechanism: id, because }) }
    const confirmation = fields.get("confirmed") ?? ""
    if (!isUuid(confirmation)) return { ask: askFor(mechanism, action, plan, fields) }
    if (action === "end" && fields.get("word")?.trim().toUpperCase() !== endWord) {
      const problem = `Type ${endWord} to confirm. Nothing has changed.`
      return { ask: { ...askFor(mechanism, action, plan, fields, problem), status: 400 } }
    }
    const done = { done: action, mechanism: id }
    return yield* plan.run.pipe(
      Effect.map((result) => ({ done: queryOf({ ...done, ...result }) })),
      // It has closed since it was read.
      Effect.catchIf(
        ({ code }) => code === "CLOSED",
        () => Effect.succeed({ done: queryOf({ ...done, because: "closed" }) })
      )
    )
  })

const queryOf = (fields: { readonly [name: string]: string }): string => new URLSearchParams(fields).toString()

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
    const because = query.get("because")
    if (because !== null) return isPointless(because) ? pointlessText(because, name) : undefined
    const number = (key: string) => Option.getOrElse(Count(query.get(key)), () => 0)
    switch (action) {
      case "admit": {
        const admitted = counted(number("count"), "consumer was", "consumers were")
        return `${admitted} admitted${query.has("asked") ? `: fewer than ${count(number("asked"))} were waiting` : ""}.`
      }
      case "rate":
        return mechanism.type === "queue" ? `The rate is ${mechanism.admitRate} per minute.` : undefined
      case "inside":
        return mechanism.type === "queue" && mechanism.insideLimit !== null
          ? `At most ${count(mechanism.insideLimit)} may be inside at once.`
          : undefined
      case "pause":
        return `${name} is paused.`
      case "resume":
        return `${name} is resumed.`
      case "draw":
        return mechanism.type === "draw" && mechanism.drawnAt !== null
          ? `${name} has closed, and its winners are drawn.`
          : `${name} has closed. Its figures say when its winners are drawn.`
      case "close":
        return `${name} has closed, and its leading bids won.`
      case "unpark":
        return `${name} was started again.`
      case "end":
        return `${name} has ended.`
    }
  }

/** An action that takes back the last one, for the query of a control room. */
export interface Undo {
  readonly action: Action
  readonly mechanism: string
  readonly number?: { readonly setting: NumberedSetting; readonly former: number; readonly present: number }
}

/** The settings of a queue that an action changes in its place. */
const numberedSettings = { rate: "admitRate", inside: "insideLimit" } as const
type NumberedSetting = (typeof numberedSettings)[keyof typeof numberedSettings]

/** Returns what takes back a pause, or a change of the rate or of the limit, while nothing has happened since. */
export const undoOf = (query: URLSearchParams, mechanisms: ReadonlyArray<Mechanism>): Undo | undefined => {
  const found = mechanisms.find(({ id }) => id === query.get("mechanism"))
  if (found?.type !== "queue" || found.lifecycle === "closed" || query.has("because")) return undefined
  const isHeld = found.pausedAt !== null
  switch (query.get("done")) {
    case "pause":
      return isHeld ? { action: "resume", mechanism: found.id } : undefined
    case "resume":
      return isHeld ? undefined : { action: "pause", mechanism: found.id }
    case "rate":
      return undoOfNumber(query, found, "rate")
    case "inside":
      return undoOfNumber(query, found, "inside")
    default:
      return undefined
  }
}

type Queue = Extract<Mechanism, { readonly type: "queue" }>

const undoOfNumber = (query: URLSearchParams, queue: Queue, action: "rate" | "inside"): Undo | undefined => {
  const setting = numberedSettings[action]
  const [former, present] = [Count(query.get("from")), Count(query.get("to"))].map(Option.getOrUndefined)
  return former === undefined || former < 0 || former === present || present !== queue[setting]
    ? undefined
    : { action, mechanism: queue.id, number: { setting, former, present } }
}

/** True if consumers wait for an outcome that an end prevents. */
const isContest = (type: Mechanism["type"]): boolean => type === "draw" || type === "auction"

/** What an end does, in a sentence. */
export const effectOfEnd = (mechanism: Mechanism): string =>
  `${isolated(mechanism.name, "")} closes immediately and permanently${isContest(mechanism.type) ? ", and nobody else wins" : ""}. ${counted(countsOf(mechanism).waiting, "person loses the place", "people lose their places")}; grants stay valid until they expire.`

/** The plan of an action that mechanisms of all kinds have. */
const planOfAny = (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Mechanism,
  action: "end" | "unpark",
  why: Why
): Plan => {
  const { id, type } = mechanism
  const name = isolated(mechanism.name, "")
  const input = { params: { id }, payload: why }
  const run = api.run(operator, declarations[type].path, action, input)
  return action === "end"
    ? {
        says: effectOfEnd(mechanism),
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
  why: Why
): Plan => {
  const entries = countsOf(mechanism).waiting
  const winners = Math.min(mechanism.winnerCount, entries)
  return {
    says: `${isolated(mechanism.name, "")} takes no more entries. Of the ${counted(entries, "entry", "entries")} so far ${count(winners)} win${winners === 1 ? "s" : ""}, by the draw that anyone can check.`,
    run: Effect.asVoid(api.run(operator, "draws", "drawNow", { params: { id: mechanism.id }, payload: why }))
  }
}

const planOf = Effect.fnUntraced(function* (
  api: AdminApiClient["Service"],
  operator: Operator,
  mechanism: Mechanism,
  action: Action,
  fields: URLSearchParams,
  why: Why
) {
  const params = { id: mechanism.id }
  const waiting = mechanism.live?.counts["QUEUED"] ?? 0
  if (action === "end" || action === "unpark") return planOfAny(api, operator, mechanism, action, why)
  if (action === "draw") {
    if (mechanism.type !== "draw") return yield* wrong("Only draws support this action.")
    return planOfDraw(api, operator, mechanism, why)
  }
  if (action === "close") {
    if (mechanism.type !== "auction") return yield* wrong("Only auctions support this action.")
    const plan: Plan = {
      says: `${isolated(mechanism.name, "")} takes no more bids. The leading bids that reach the reserve win.`,
      run: Effect.asVoid(api.run(operator, "auctions", "closeNow", { params, payload: why }))
    }
    return plan
  }
  if (mechanism.type !== "queue") return yield* wrong("Only queues support this action.")
  if (action === "pause" || action === "resume") {
    const plan: Plan = {
      says:
        action === "pause"
          ? `Nobody is admitted by the rate from now on. ${counted(waiting, "person is", "people are")} waiting, and will see that the queue is paused.`
          : `The queue admits ${mechanism.admitRate} per minute again. ${counted(waiting, "person is", "people are")} waiting.`,
      run: Effect.asVoid(api.run(operator, "queues", action, { params, payload: why }))
    }
    return plan
  }
  const number = Option.getOrUndefined(Count(fields.get(action === "admit" ? "count" : numberedSettings[action])))
  if (number === undefined) return yield* wrong("Enter a whole number.")
  const plan: Plan =
    action === "admit"
      ? {
          says: `The next ${Math.min(number, waiting)} of ${waiting} waiting consumers are admitted immediately, in addition to the rate.`,
          button: waiting > 0 ? `Admit ${Math.min(number, waiting)}` : labels.admit,
          run: Effect.map(
            api.run(operator, "queues", "admit", { params, payload: { count: number, ...why } }),
            ({ admitted }) =>
              admitted === 0
                ? { because: "nobody" }
                : { count: `${admitted}`, ...(admitted < number && { asked: `${number}` }) }
          )
        }
      : planOfNumber(api, operator, mechanism, { action, number, waiting }, why)
  return plan
})

/** The plan to change the rate, or how many may be inside. */
const planOfNumber = (
  api: AdminApiClient["Service"],
  operator: Operator,
  queue: Queue,
  {
    action,
    number,
    waiting
  }: { readonly action: "rate" | "inside"; readonly number: number; readonly waiting: number },
  why: Why
): Plan => {
  const setting = numberedSettings[action]
  const former = queue[setting]
  const payload = { [setting]: number, ...why }
  const run = Effect.as(api.run(operator, "queues", "change", { params: { id: queue.id }, payload }), {
    ...(former !== null && { from: `${former}` }),
    to: `${number}`
  })
  if (action === "rate") {
    return {
      button: `Change the rate to ${number}`,
      says: `The rate changes from ${former} to ${number} per minute. ${counted(waiting, "person is", "people are")} waiting. Their estimated waits change.`,
      run
    }
  }
  return {
    button: `Let ${number} be inside`,
    says: `At most ${number} may be inside at once${former === null ? "" : `, and not ${former}`}. ${counted(waiting, "person is", "people are")} waiting. Nobody inside has to leave.`,
    run
  }
}

/** The word that confirms an end, which cannot be undone. */
export const endWord = "END"

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
  inside: "Change the limit",
  pause: "Pause",
  resume: "Resume",
  draw: "Draw now",
  close: "Close now",
  unpark: "Unpark",
  end: "End"
}

/** Between the label of an action and the name of its mechanism. */
const prepositions: { readonly [A in Action]?: string } = { admit: "to ", rate: "of ", inside: "of " }
