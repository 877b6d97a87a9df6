/** The tab Rehearse of a drop: begins a rehearsal, shows how far it is and its report, and lists former ones. */
import { Effect } from "effect"
import type { Operator } from "../../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../../domain/organization/Person.ts"
import { isUuid } from "../../../../domain/values/Ids.ts"
import { style } from "../../../../load/Html.ts"
import { contentOf, pageOf } from "../../../../load/rehearsal/Page.ts"
import type { AdminApiClient } from "../../../ApiClients.ts"
import { html, trusted } from "../../../Html.ts"
import { notFound } from "../../../Refusal.ts"
import { refusing } from "../../form/Refused.ts"
import { card, linkButton } from "../../Parts.ts"
import { get, post, type Route, type RouteRequest } from "../../Route.ts"
import { mendingOf } from "../Check.ts"
import type { Drop } from "../Drop.ts"
import type { Tab, TabBody, TabFrame, TabNeeds } from "../Tab.ts"
import { beginForm, payloadOf, type RefusedBegin } from "./BeginForm.ts"
import { failedCard, listOf, progressPart, type Rehearsal, runningNote } from "./Parts.ts"

const path = "/experiences/:id/rehearse"

/** The rehearsals that are kept, and one that is under way. */
const listedMax = "50"

/** The tab. */
export const make = ({ api }: TabNeeds): Tab => {
  const show = makeShow(api)
  return {
    path: "/rehearse",
    title: "Rehearse",
    show: (operator, drop) => show(operator, drop),
    routes: (frame) => [...makeBeginRoutes(api, frame, show), ...makeReportRoutes(api, frame)]
  }
}

/** Makes the function that shows the form and the list. */
const makeShow = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, drop: Drop, sent?: RefusedBegin) {
    if (operator.tenant.mode === "test") return { body: ofLiveMode } satisfies TabBody
    const { data } = yield* api.run(operator, "rehearsals", "listRehearsals", {
      params: { id: drop.experience.id },
      query: { first: listedMax, sortDir: "desc" }
    })
    const running = data.find(({ status }) => status === "RUNNING")
    const body: TabBody = {
      body: html`${running === undefined ? beginForm(operator, drop, sent) : runningNote(drop, running)}
      ${listOf(drop, data)}`,
      status: sent === undefined ? 200 : 400
    }
    return body
  })

const ofLiveMode = card(
  "A rehearsal copies a drop of live mode",
  html`<p class="muted">It is played in test mode, and begun from the drop itself: change to live mode.</p>`
)

const makeBeginRoutes = (
  api: AdminApiClient["Service"],
  { read, write }: TabFrame,
  show: ReturnType<typeof makeShow>
): ReadonlyArray<Route> => [
  post(
    path,
    "admin",
    Effect.fnUntraced(function* (operator, { params, fields }) {
      const drop = yield* read(operator, params["id"]!)
      const shown = (sent: RefusedBegin) => Effect.map(show(operator, drop, sent), (body) => write(drop, body))
      const { refuse, orShown } = refusing<"begin">(fields, shown)
      const { payload, problems } = payloadOf(drop, fields)
      if (problems.size > 0) return yield* refuse({ form: "begin", problems })
      return yield* api
        .run(operator, "rehearsals", "beginRehearsal", { params: { id: drop.experience.id }, payload })
        .pipe(
          Effect.map(({ id }) => ({ goTo: `${drop.path}/rehearse/${id}` })),
          Effect.catchIf(
            ({ code }) => code in conflicts,
            ({ code }) => refuse({ form: "begin", problems: new Map([[code, conflicts[code]!]]) })
          ),
          orShown({ form: "begin" })
        )
    })
  ),
  post(
    `${path}/:rehearsal/cancel`,
    "admin",
    Effect.fnUntraced(function* (operator, { params }) {
      const drop = yield* read(operator, params["id"]!)
      if (!isUuid(params["rehearsal"]!)) return yield* notFound
      const { id } = yield* api.run(operator, "rehearsals", "cancelRehearsal", { params: { id: params["rehearsal"]! } })
      return { goTo: `${drop.path}/rehearse/${id}` }
    })
  )
]

/** What a person can do about a conflict. */
const conflicts: { readonly [code: string]: string } = {
  REHEARSAL_RUNNING: "Another drop of your brand is being rehearsed. Wait until that has ended, or cancel it there.",
  TEST_CLOCK_EXISTS:
    "Test mode has a test clock already, which somebody else has set for a test. A developer ends it with DELETE " +
    "/test-clock of the Admin API and a test key; then begin again.",
  TEST_MODE_IN_USE:
    "Test mode has drops of its own. The rehearsal moves their time too, and they are archived at its end. Tick the box " +
    "below if nobody needs them any more."
}

/** Makes the function that reads the drop and a rehearsal of it. */
const makeReadOne = (api: AdminApiClient["Service"], { read }: TabFrame) =>
  Effect.fnUntraced(function* (operator: Operator, { params }: RouteRequest) {
    const id = params["rehearsal"]!
    if (!isUuid(id)) return yield* notFound
    const drop = yield* read(operator, params["id"]!)
    const rehearsal = yield* api.run(operator, "rehearsals", "getRehearsal", { params: { id } })
    return rehearsal.experienceId === drop.experience.id ? { drop, rehearsal } : yield* notFound
  })

const addressOf = ({ path }: Drop, { id }: Pick<Rehearsal, "id">): string => `${path}/rehearse/${id}`

const makeReportRoutes = (api: AdminApiClient["Service"], frame: TabFrame): ReadonlyArray<Route> => {
  const readOne = makeReadOne(api, frame)
  return [
    get(`${path}/:rehearsal`, (operator, sent) =>
      Effect.map(readOne(operator, sent), ({ drop, rehearsal }) => {
        const address = addressOf(drop, rehearsal)
        const back = html`<p><a href="${drop.path}/rehearse">All rehearsals</a></p>`
        if (rehearsal.report !== null) {
          const printed = linkButton(`${address}/report`, "Open the page to print ↗")
          const body = html`<article class="report">
              ${trusted(contentOf(rehearsal.report, (finding) => mendingOf(drop, finding).href))}
            </article>
            <p class="row">${printed}</p>
            ${back}`
          return frame.write(drop, { body })
        }
        if (rehearsal.status === "FAILED")
          return frame.write(drop, { body: html`${failedCard(drop, rehearsal)}${back}` })
        const mayCancel = mayDo(operator.role, "admin")
        const body = html`<div data-live="${address}/progress">${progressPart(drop, rehearsal, mayCancel)}</div>`
        return frame.write(drop, { body })
      })
    ),
    // Where it has ended, the script loads the page again.
    get(`${path}/:rehearsal/progress`, (operator, sent) =>
      Effect.map(readOne(operator, sent), ({ drop, rehearsal }) =>
        rehearsal.status === "RUNNING"
          ? { part: progressPart(drop, rehearsal, mayDo(operator.role, "admin")) }
          : { goTo: addressOf(drop, rehearsal) }
      )
    ),
    get(`${path}/:rehearsal/report`, (operator, sent) =>
      Effect.map(readOne(operator, sent), ({ drop, rehearsal }) =>
        rehearsal.report === null
          ? { goTo: addressOf(drop, rehearsal) }
          : { preview: pageOf(rehearsal.report), styles: [style] }
      )
    )
  ]
}
