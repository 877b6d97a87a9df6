/**
 * A new drop: a person chooses how it is handed out, fills in one form, and gets the whole experience with its product,
 * or nothing and the form with what was typed. Each part becomes a mechanism of one sequence.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { defaultCurrencyCode, defaultTimeZone } from "../../../domain/values/Locale.ts"
import { html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Refusal } from "../../Refusal.ts"
import { pathOf } from "../drop/Drop.ts"
import { problemsOf, type Sent } from "../form/Form.ts"
import { makeUpload } from "../form/Upload.ts"
import type { Screen } from "../Frame.ts"
import { get, postFiles, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { sharingPath } from "../schedule/SharingForm.ts"
import { newestStocks } from "../stocks/Sizes.ts"
import { bodyOf, openingIn, partsIn } from "./Body.ts"
import { formScreen, type Surroundings, thenField, thenStock } from "./NewDropForm.ts"
import { combinations } from "./Combinations.ts"
import { parts } from "./Parts.ts"
import { previewOf } from "./Preview.ts"
import { pictureField } from "./ProductPart.ts"
import * as Time from "../../../store/coordination/Time.ts"

type Api = AdminApiClient["Service"]

const path = "/dashboard/new"

/** The routes of a new drop. */
export const make = (api: Api): ReadonlyArray<Route> => {
  const show = makeShow(api)
  const create = makeCreate(api, show)
  return [
    {
      ...get("/new", (operator, { query }) => (query.has("part") || isShared(query) ? show(operator, query) : choice)),
      role: "operator"
    },
    postFiles("/new", "operator", create)
  ]
}

/** True for a drop whose mechanisms are made on the next screen, from one stock. */
const isShared = (fields: URLSearchParams): boolean => fields.get(thenField) === thenStock

/** The address of the form with these parts. */
const formPath = (names: ReadonlyArray<string>): string => `${path}?part=${names.join(",")}`

const option = (title: string, use: string, address: string) =>
  html`<section class="card choice">
    <h2>
      <a href="${address}">${title} <span aria-hidden="true">→</span></a>
    </h2>
    <p class="muted">${use}</p>
  </section>`

/** The screen on which a person chooses the parts. */
const choice: Effect.Effect<Screen> = Effect.succeed({
  title: "New drop",
  body: html`
    <p>How do people get their chance?</p>
    <div class="cards">${parts.toReversed().map(({ name, title, use }) => option(title, use, formPath([name])))}</div>
    <h2>One after the other</h2>
    <div class="cards">
      ${option(
        "From one stock: a draw, a queue for the rest, a waitlist for what falls back",
        "You say once how many there are and who gets them in what order. What one does not sell goes to the next.",
        `${path}?${thenField}=${thenStock}`
      )}
      ${combinations.map((one) => option(one.title, one.use, formPath(one.parts.map(({ name }) => name))))}
    </div>
    <form method="get" action="${path}" class="card">
      <fieldset>
        <legend>Another combination</legend>
        ${parts.map(
          ({ name, title, after }) =>
            html`<label class="tick"
              ><input type="checkbox" name="part" value="${name}" /> ${title} <span class="hint">${after}</span></label
            >`
        )}
      </fieldset>
      <p class="hint">They follow each other in this order. Each can have an opening of its own.</p>
      <button class="quiet">Continue</button>
    </form>
  `
})

/** Products and audiences of which a person can choose. The newest are offered. */
const offeredMax = "100"

/** Makes the function that shows the form, also with what was typed and what is wrong with it. */
const makeShow = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, query: URLSearchParams, sent?: Sent) {
    const list = { query: { first: offeredMax, sortDir: "desc" } } as const
    const organization = yield* api.run(operator, "organizations", "getOrganization", {})
    const around: Surroundings = {
      products: (yield* api.run(operator, "products", "listProducts", list)).data,
      audiences: (yield* api.run(operator, "audiences", "listAudiences", list)).data,
      stocks: yield* newestStocks(api, operator),
      timeZone: organization.timeZone ?? defaultTimeZone,
      currencyCode: organization.currencyCode ?? defaultCurrencyCode,
      now: yield* Time.now
    }
    const chosen = partsIn(query)
    if (chosen.length === 0 && !isShared(query)) return yield* choice
    const preview = previewOf(sent?.fields ?? query, operator.organizationName, around.now)
    return formScreen(chosen, { ...around, preview }, sent)
  })

/** Makes the form that creates the drop. */
const makeCreate = (api: Api, show: ReturnType<typeof makeShow>) => {
  const upload = makeUpload(api)
  return Effect.fnUntraced(function* (
    operator: Operator,
    sent: RouteRequest
  ): Effect.fn.Return<Reply, Refusal, HttpServerRequest.HttpServerRequest> {
    const { fields } = sent
    if (fields.get("do") === "preview") {
      return { part: previewOf(fields, operator.organizationName, yield* Time.now) }
    }
    // A form that is shown again has the address of the picture, because browsers forget files.
    const refused = yield* upload(operator, sent, [pictureField])
    if (fields.get("do") === "more") return yield* show(operator, fields, { fields })
    const { body, problems: found, fieldAt } = bodyOf(fields, yield* Time.now)
    const problems = new Map([...refused, ...found])
    if (problems.size > 0) return yield* show(operator, fields, { fields, problems })
    return yield* api.run(operator, "experiences", "createExperience", { payload: body }).pipe(
      Effect.map(({ id, name }): Reply =>
        isShared(fields)
          ? { goTo: sharingPath(pathOf(id), openingIn(fields)), done: `${name} is created. Now share its units out.` }
          : { goTo: pathOf(id), done: `${name} is created. Open its room, or share its link.` }
      ),
      Effect.catchTag("Refusal", (refusal) =>
        isOfForm(refusal)
          ? show(operator, fields, { fields, problems: problemsOf(refusal, fieldAt) })
          : Effect.fail(refusal)
      )
    )
  })
}

/** True if another input could be accepted. */
const isOfForm = ({ status }: Refusal): boolean => status === 400 || status === 409
