/** What changes of a drop while its tab Now is open: the parts that the script fetches, and the stream that tells when. */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html } from "../../Html.ts"
import { badge } from "../Parts.ts"
import { get, type Route } from "../Route.ts"
import { actsPart, type makeActs } from "./Acts.ts"
import { type Drop, isPaused, type Mechanism } from "./Drop.ts"
import { figuresOf, makeSeen, type Seen } from "./Figures.ts"
import type { makeHappened } from "./Happened.ts"
import { statePart } from "./Head.ts"
import { steeringOf } from "./SteerForms.ts"
import { makeStockParts } from "./StockParts.ts"
import type { TabFrame, TabNeeds } from "./Tab.ts"

/** Mechanisms that have a chart. Each costs a query of analytics. */
const chartsMax = 6

/** The mechanisms that have a chart. */
export const withChart = (seen: ReadonlyArray<Seen>): ReadonlyArray<Seen> =>
  seen.filter(({ mechanism }) => mechanism.lifecycle !== "scheduled").slice(0, chartsMax)

/** Makes the function that returns the routes. */
export const makeLive = (
  { api, sessions }: Pick<TabNeeds, "api" | "sessions">,
  happened: ReturnType<typeof makeHappened>,
  actsOf: ReturnType<typeof makeActs>
) => {
  const seenOf = makeSeen(api)
  const stocksOf = makeStockParts(api)

  const figures = Effect.fnUntraced(function* (operator: Operator, drop: Drop) {
    const { mechanisms, now, path } = drop
    const seen = yield* seenOf(operator, mechanisms)
    const isOne = mechanisms.length === 1
    const maySteer = mayDo(operator.role, "operator")
    const partsOf = (one: Seen) =>
      html`${titleOf(one.mechanism, isOne)} ${figuresOf(one, now)} ${maySteer && steeringOf(one.mechanism, path, isOne)}`
    const stocks = yield* stocksOf(operator, mechanisms)
    return { part: html`${statePart(drop)} ${stocks} ${seen.map(partsOf)}` }
  })

  /** The last events, and the acts in the charts. */
  const lately = Effect.fnUntraced(function* (operator: Operator, drop: Drop) {
    const seen = withChart(yield* seenOf(operator, drop.mechanisms))
    const acts = yield* Effect.forEach(seen, (one) =>
      Effect.map(actsOf(operator, one), (found) => actsPart(one.mechanism.id, found))
    )
    return { part: html`${yield* happened(operator, drop)} ${acts}` }
  })

  /** The changes of the experience, as the Admin API streams them. */
  const events = Effect.fnUntraced(function* (operator: Operator, id: string) {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const last = headers["last-event-id"]
    const caller = { ...operator, credentials: yield* sessions.lasting(operator) }
    const input = { params: { id }, headers: last === undefined ? {} : { "last-event-id": last } }
    return { response: yield* api.run(caller, "experiences", "watchExperience", input) }
  })

  return (read: TabFrame["read"]): ReadonlyArray<Route> => [
    get("/experiences/:id/figures", (operator, { params }) =>
      Effect.flatMap(read(operator, params["id"]!), (drop) => figures(operator, drop))
    ),
    get("/experiences/:id/happened", (operator, { params }) =>
      Effect.flatMap(read(operator, params["id"]!), (drop) => lately(operator, drop))
    ),
    get("/experiences/:id/events", (operator, { params }) => events(operator, params["id"]!))
  ]
}

const tones = { open: "ok", scheduled: "next", settling: "warn", closed: "over" } as const

/** The name and the state of a mechanism. Of the only one the head of the drop says it, unless something is wrong. */
export const titleOf = (mechanism: Mechanism, isOne: boolean): Html => {
  const { id, name, type, lifecycle, live } = mechanism
  return html`<div class="title" data-part="title-${id}">
    <h2><bdi>${name}</bdi> <small>${kindNames[type]}</small></h2>
    ${(!isOne || lifecycle !== "open") && badge(lifecycle, tones[lifecycle])}
    ${isPaused(mechanism) && badge("paused", "warn")}
    ${live?.parked === true && badge("parked: it failed too often", "warn")}
    ${live === null && badge("not responding", "warn")}
    <a href="/dashboard/mechanisms/${id}/history">History</a>
  </div>`
}
